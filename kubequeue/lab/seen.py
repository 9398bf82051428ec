"""What the server has, what the cache shows, what is remembered, and what each round made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from kubequeue.cluster.objects import Pod
from kubequeue.cluster.watch import DELETED, WatchEvent
from kubequeue.kuberay.expectations import HEAD_GROUP
from kubequeue.kuberay.pods import CLUSTER, GROUP, HEAD, HEAD_GROUP_LABEL, WORKER, pod_name
from kubequeue.lab.story import Decision, Memo, Seen, State, Stretch
from kubequeue.lab.world import World, key
from kubequeue.observe.trace import Instant
from kubequeue.sim import NANOSECONDS


def seen(
    world: World,
    name: str,
    *,
    group: str = "workers",
    kind: type[Any] = Pod,
    namespace: str = "default",
    since: float = 0.0,
    until: float | None = None,
) -> Seen:
    """The story of one group of Pods of a RayCluster, or of one object of another ``kind``.

    The truth is the store's own record of its writes. Raises `ExpiredError` when the store has
    forgotten the oldest of them. Costs O(steps of the run).
    """
    end = world.sim.now if until is None else until
    subject = _Subject(name, namespace, group, kind)
    watch = world.server.store.watch(kind, namespace, "1")
    events = [event for event in watch.take() if subject.has(event.object)]
    watch.stop()
    instants = world.sim.trace.instants
    truth = _stretches(((e.at_ns / NANOSECONDS, _changed(e)) for e in events), {}, end)
    cache = _stretches(_cache_changes(instants, events, kind), None, end)
    memos = list(_memos(instants, subject)) if kind is Pod else []
    rounds = list(_rounds(instants, subject, {e.object.metadata.name for e in events}))
    return Seen(
        since,
        end,
        _cut(truth, since, end),
        _cut(cache, since, end),
        [m for m in memos if m.start <= end and (m.end is None or m.end > since)],
        [r for r in rounds if since <= r.start <= end],
    )


class _Subject(NamedTuple):
    """Whom the story is about."""

    name: str
    namespace: str
    group: str
    kind: type[Any]

    @property
    def key(self) -> str:
        return str(key(self.name, self.namespace))

    @property
    def prefix(self) -> str:
        """How the keys of creates of Pods of the group begin."""
        whole = (
            pod_name(self.name, HEAD)
            if self.group == HEAD_GROUP
            else pod_name(f"{self.name}-{self.group}", WORKER)
        )
        return f"{self.namespace}/{whole}-"

    def has(self, obj: Any) -> bool:
        meta = obj.metadata
        if self.kind is not Pod:
            return bool(meta.name == self.name)
        wanted = {CLUSTER: self.name, GROUP: self.group or HEAD_GROUP_LABEL}
        return bool(wanted.items() <= meta.labels.items())


_GONE = "already gone"

Change = Callable[[State | None], State | None]


def _changed(event: WatchEvent) -> Change:
    name = event.object.metadata.name
    if event.type == DELETED:
        return _without(name)
    return lambda old: {**(old or {}), name: _condition(event.object)}


def _without(name: str) -> Change:
    return lambda old: {n: c for n, c in (old or {}).items() if n != name}


def _nobody_looks(_: State | None) -> None:
    """The process is gone, or its cache has no list yet."""


def _looks(old: State | None) -> State:
    return {} if old is None else old


def _condition(obj: Any) -> str:
    if type(obj) is not Pod:
        return str(obj.metadata.resource_version)
    return "" if obj.metadata.deletion_timestamp is None else "going"


def _cache_changes(
    instants: list[Instant], events: list[WatchEvent], kind: type[Any]
) -> Iterator[tuple[float, Change]]:
    """What the trace tells of the cache; objects are found again by their versions."""
    by_version = {event.object.metadata.resource_version: event for event in events}
    names = {f"{e.object.metadata.namespace}/{e.object.metadata.name}" for e in events}
    for each in instants:
        if each.kind == "lived" and each.values[0] in ("starts", "ended"):
            yield each.at, _nobody_looks
        elif each.kind == "listed" and each.actor == kind.kind:
            yield each.at, _looks
        elif each.kind == "cached" and each.actor == kind.kind and str(each.key) in names:
            change, version = each.values
            event = by_version.get(version)
            if change == DELETED:
                yield each.at, _without(str(each.key).rpartition("/")[2])
            elif event is not None:
                yield each.at, _changed(event)


def _stretches(
    changes: Iterable[tuple[float, Change]], first: State | None, end: float
) -> list[Stretch]:
    """One stretch for each look, the same look twice in a row being one."""
    at, state, found = 0.0, first, []
    for when, moment in groupby(changes, key=lambda change: change[0]):
        new = state
        for _, change in moment:
            new = change(new)
        if new != state:
            found.append(Stretch(at, when, state))
            at, state = when, new
    return [*found, Stretch(at, max(end, at), state)]


def _cut(stretches: list[Stretch], since: float, until: float) -> list[Stretch]:
    cut = [s._replace(start=max(s.start, since), end=min(s.end, until)) for s in stretches]
    return [each for each in cut if each.end > each.start]


def _memos(instants: list[Instant], subject: _Subject) -> Iterator[Memo]:
    """Each record of the group, from the write to why it went."""
    held: dict[str, Memo] = {}
    for each in instants:
        ours = each.key is not None and str(each.key) == subject.key
        if ours and each.kind in ("expected", "met") and each.values[0] == subject.group:
            pod = each.values[1]
            if pod in held:
                timed_out = each.kind == "met" and each.values[3]
                why = "replaced" if each.kind == "expected" else "timed out" if timed_out else "met"
                yield held.pop(pod)._replace(end=each.at, why=why)
            if each.kind == "expected":
                held[pod] = Memo(each.at, None, each.values[2], pod.rpartition("/")[2])
        ended = each.kind == "lived" and each.values[0] == "ended"
        if ended or (ours and each.kind == "expectations_deleted"):
            why = "lost" if ended else "dropped"
            yield from (memo._replace(end=each.at, why=why) for memo in held.values())
            held.clear()
    yield from held.values()


def _rounds(instants: list[Instant], subject: _Subject, names: set[str]) -> Iterator[Decision]:
    """Each round of the RayCluster, with what it did for the subject."""
    start, done = None, list[str]()
    for each in instants:
        ours = each.source.endswith("raycluster") and (
            each.kind == "crashed" or str(each.key) == subject.key
        )
        if ours and each.kind == "round_started":
            start, done = each.at, []
        elif start is not None and ours and each.kind in ("round_ended", "crashed"):
            failed = each.kind == "round_ended" and each.values[0] == "error"
            rest = "cut off" if each.kind == "crashed" else "error" if failed else "ok"
            yield Decision(start, each.at, _told(done) or rest)
            start = None
        elif start is not None:
            done += _acts(each, subject, names)
    if start is not None:
        yield Decision(start, instants[-1].at, _told(done) or "running")


def _acts(each: Instant, subject: _Subject, names: set[str]) -> Iterator[str]:
    """What one step of a round did for the subject."""
    if each.kind == "unsatisfied" and str(each.key) == subject.key:
        if each.values[0] == subject.group and subject.kind is Pod:
            yield "skip"
    elif each.kind == "answered":
        verb, _, kind = each.actor.partition(" ")
        name, code = str(each.key), each.values[0]
        if kind != subject.kind.kind:
            return
        if subject.kind is not Pod:
            if name == subject.key and verb not in ("get", "list", "watch"):
                yield "write" if code < 300 else "conflict" if code == 409 else f"{verb} failed"
        elif (verb == "create" and name == subject.prefix) or name.rpartition("/")[2] in names:
            failed = {404: _GONE, 504: "answer lost"} if verb == "delete" else {504: "answer lost"}
            yield verb if code < 300 else failed.get(code, f"{verb} failed")


def _told(done: list[str]) -> str:
    """``create, create`` is ``create 2``; that some were gone before is told if nothing else is."""
    counts = {words: done.count(words) for words in done if words != _GONE} or dict.fromkeys(
        done, 1
    )
    counted = ("create", "delete")
    return ", ".join(f"{w} {n}" if w in counted else w for w, n in counts.items())


def pods_made(
    world: World, name: str, *, group: str = "workers", namespace: str = "default"
) -> list[str]:
    """The names of all Pods that a group ever had, in the order in which the server made them."""
    subject = _Subject(name, namespace, group, Pod)
    watch = world.server.store.watch(Pod, namespace, "1")
    made = dict.fromkeys(e.object.metadata.name for e in watch.take() if subject.has(e.object))
    watch.stop()
    return list(made)
