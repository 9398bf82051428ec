"""What an operator is built on, as controller-runtime and client-go build it.

::

    reflector, delivery, informer, indexer, cache   the local copy of the cluster, and its lag
    restclient, client, limits                      reads from the copy, writes behind token buckets
    handler, predicates                             from events to keys
    controller, reconcile                           the workers, and what they make of a result
    builder, manager, lifetime                      one process: how it starts, stops and crashes
    leaderelection, leaselock, deadline             of several processes one leads
"""
