"""The heap of the delaying queue, in the order of Go's container/heap."""

from __future__ import annotations

import pytest

from kubequeue.workqueue.goheap import Entry, WaitForPriorityQueue

# What container/heap did (Go 1.26): "3:1" gives entry 3 the deadline 1, pushing it or fixing it;
# "-" pops one. In the end the rest is popped. Most deadlines are equal.
RUNS = [
    (
        "0:0 1:0 2:1 3:1 3:1 4:1 5:2 - 6:0 7:0 8:2 9:2 10:0 11:0 6:2 - 12:2 13:1 14:0 15:2 4:2 "
        "16:0 17:2 - 18:0 19:1 20:1 21:1 22:0 23:2 17:1 -",
        "0 1 10 11 18 22 7 14 16 3 19 20 2 17 21 13 8 4 9 12 15 6 23 5",
    ),
    (
        "0:2 1:0 2:2 3:2 1:0 4:1 5:2 - 6:1 7:0 6:1 8:0 9:2 10:1 11:2 3:2 - 12:2 13:2 14:2 15:0 "
        "8:1 16:0 17:1 - 18:1 19:1 10:0 20:1 21:0 22:2 23:2 21:2 -",
        "1 7 15 16 10 18 19 17 20 8 6 4 14 13 12 0 22 23 5 2 11 9 3 21",
    ),
    (
        "0:1 1:0 2:0 3:2 0:2 4:1 5:0 - 6:1 7:0 6:0 8:0 9:1 10:2 11:2 7:0 - 12:1 13:1 14:2 15:0 "
        "13:1 16:0 17:0 - 18:1 19:0 4:1 20:0 21:1 22:1 23:1 19:1 -",
        "1 5 8 17 20 2 6 7 15 16 23 21 19 9 4 12 22 13 18 3 0 10 11 14",
    ),
]


@pytest.mark.parametrize(("ops", "popped"), RUNS)
def test_equal_deadlines_leave_in_the_order_of_gos_heap(ops: str, popped: str) -> None:
    """Which of two equal deadlines comes first is an accident of the heap, and the same one."""
    heap, entries, out = WaitForPriorityQueue(), dict[str, Entry](), list[object]()
    for op in ops.split():
        if op == "-":
            out.append(heap.pop().key)
            continue
        key, _, deadline = op.partition(":")
        if key in entries:
            entries[key].ready_at = int(deadline)
            heap.fix(entries[key].index)
        else:
            entries[key] = Entry(key, int(deadline))
            heap.push(entries[key])
    while heap.entries:
        out.append(heap.pop().key)
    assert " ".join(map(str, out)) == popped
