"""The live topology: who runs which round where, at every moment of a run."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import ipywidgets as w

from kubequeue.errors import InvalidArgumentError
from kubequeue.lab.reach import Reach, Scene
from kubequeue.lab.style import key_colours
from kubequeue.lab.topology import spoken
from kubequeue.lab.topology_svg import topology_svg
from kubequeue.lab.widgets.parts import button, fold, named, own_keys, say, table
from kubequeue.observe.trace import Trace
from kubequeue.runtime.manager import Manager


class LiveTopology(w.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A run of some managers, one moment at a time.

    Args:
        trace: of the simulation that the managers are in.
        managers: one or more.
        at: seconds; the moment to show first is the last up to it. By default the busiest.
        namespaces: to show besides those that are watched by name or have had a round.

    Raises `InvalidArgumentError` without a manager. A redraw costs O(spans of the run).

    >>> from kubequeue.lab.world import World
    >>> world = World(reconcile_concurrency=2)
    >>> world.create("a"); world.create("b"); world.run(until=5)
    >>> LiveTopology(world.sim.trace, world.operator)
    LiveTopology: At 0.010 s 2 rounds run: raycluster worker-1 default/a, worker-2 default/b.
    """

    def __init__(
        self,
        trace: Trace,
        *managers: Manager,
        at: float | None = None,
        namespaces: Iterable[str] = (),
    ) -> None:
        if not managers:
            raise InvalidArgumentError("managers", managers, "one manager or more")
        self._reach = Reach(trace, *managers, namespaces=namespaces)
        self.moments = self._reach.moments
        """Every moment that can be shown, in seconds."""
        self._colours = key_colours(self._reach.keys)
        self._at = -1
        self._picture, self._sentence, self._table = (
            named(w.HTML(), name) for name in ("kq-picture", "kq-sentence", "kq-table")
        )
        last = len(self.moments) - 1
        self._slider = named(w.IntSlider(description="moment", min=0, max=last), "kq-slider")
        self._slider.layout.width = "420px"
        self._slider.observe(lambda change: self.show(change.new), names="value")
        super().__init__(children=self._rows(last))
        self.add_class("kq-topology")
        start = self._reach.busiest if at is None else at
        self.show(sum(moment <= start for moment in self.moments) - 1)

    def __repr__(self) -> str:
        return f"LiveTopology: {_sentence(self.scene)}"

    @property
    def at(self) -> int:
        """The number of the moment that is shown."""
        return self._at

    @property
    def scene(self) -> Scene:
        """What is shown."""
        return self._reach.scene(self.moments[self._at])

    def show(self, number: int) -> None:
        """Show a moment; past either end it is the first or the last."""
        number = min(max(number, 0), len(self.moments) - 1)
        if number == self._at:
            return
        self._at = number
        scene = self.scene
        words = " ".join(spoken(scene))
        self._picture.value = topology_svg(scene, self._colours, f"Diagram: {words}")
        self._slider.value = number
        rows = {
            f"{process.name}, {pool.name}": f"running {len(running)}, in line {len(pool.ready)}"
            for process in scene.processes
            for pool in process.pools
            for running in [[key for _, key in pool.workers if key is not None]]
        }
        self._table.value = table(rows)
        self._sentence.value = say(escape(_sentence(scene)))

    def _rows(self, last: int) -> list[object]:
        walk = [
            button("|◀", "kq-first", lambda: self.show(0), "to the first moment"),
            button("◀ back", "kq-back", lambda: self.show(self._at - 1), "one moment back"),
            button("step ▶", "kq-step", lambda: self.show(self._at + 1), "one moment forward"),
            button("▶|", "kq-last", lambda: self.show(last), "to the last moment"),
            self._slider,
        ]
        return [
            own_keys("kq-topology"),
            self._picture,
            self._sentence,
            w.HBox(walk, layout=w.Layout(flex_flow="row wrap")),
            fold("the same as a table", "kq-fold", self._table),
        ]


def _sentence(scene: Scene) -> str:
    """The moment, and every round that runs then."""
    rounds = scene.rounds
    several = len(scene.processes) > 1
    told: dict[str, list[str]] = {}
    for process, controller, worker, key in rounds:
        where = f"{process} {controller}" if several else controller
        told.setdefault(where, []).append(f"{worker} {key}")
    listed = "; ".join(f"{where} {', '.join(each)}" for where, each in told.items())
    count = f"{len(rounds)} round{'s run' if len(rounds) != 1 else ' runs'}"
    twice = "".join(f" Two rounds of {key} run at one time." for _, key in scene.twice)
    return f"At {scene.at:.3f} s {count}{': ' * bool(listed)}{listed}.{twice}"
