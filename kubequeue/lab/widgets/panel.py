"""The concurrency panel: turn what an operator is started with, and see the rounds at once."""

from __future__ import annotations

from typing import Any

import ipywidgets as w

from kubequeue.errors import InvalidArgumentError
from kubequeue.lab.live_gantt import gantt_svg
from kubequeue.lab.widgets.parts import named, own_keys, table
from kubequeue.lab.workload import WAITS, create_clusters


class ConcurrencyPanel(w.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """Workers, clusters, the length of a round and how a round waits; below, who did what when.

    A redraw costs O(clusters log clusters).

    >>> panel = ConcurrencyPanel(workers=2, clusters=4)
    >>> panel
    ConcurrencyPanel: all 4 clusters done at 2 s; the last is first looked at at 1 s
    >>> panel.workers.value = 4
    >>> panel
    ConcurrencyPanel: all 4 clusters done at 1 s; the last is first looked at at 0 s
    """

    WAITS = WAITS
    """What ``waits`` may be."""

    def __init__(
        self, workers: int = 2, clusters: int = 6, seconds: float = 1.0, waits: str = WAITS[0]
    ) -> None:
        self.workers = _slider(w.IntSlider, "workers", workers, 1, 8, 1, "kq-workers")
        self.clusters = _slider(w.IntSlider, "clusters", clusters, 1, 100, 1, "kq-clusters")
        self.seconds = _slider(w.FloatSlider, "round (s)", seconds, 0.5, 5.0, 0.5, "kq-round")
        self.waits = named(
            w.Dropdown(options=WAITS, value=waits, description="a round"), "kq-waits"
        )
        self._gantt, self._told = (named(w.HTML(), name) for name in ("kq-gantt", "kq-sentence"))
        controls = [self.workers, self.clusters, self.seconds, self.waits]
        for control in controls:
            control.observe(lambda _: self._redraw(), names="value")
        wrap = w.Layout(flex_flow="row wrap")
        rows = [own_keys("kq-panel"), w.HBox(controls, layout=wrap), self._gantt, self._told]
        super().__init__(children=rows)
        self.add_class("kq-panel")
        self._redraw()

    def __repr__(self) -> str:
        done, last = self.facts["all clusters done (s)"], self.facts["last first look (s)"]
        return (
            f"ConcurrencyPanel: all {self.clusters.value} clusters done at {done:g} s; "
            f"the last is first looked at at {last:g} s"
        )

    def _redraw(self) -> None:
        sim = create_clusters(
            self.clusters.value, self.workers.value, self.seconds.value, self.waits.value
        )
        rounds = sim.trace.rounds()
        first: dict[Any, float] = {}
        for each in rounds:
            first.setdefault(each.key, each.start)
        self.facts = {
            "last first look (s)": max(first.values()),
            "all clusters done (s)": sim.now,
            "seconds of work that held a worker": sum((r.end or 0) - r.start for r in rounds),
        }
        self._gantt.value = gantt_svg(sim.trace, sim.now)
        self._told.value = table({name: f"{value:.4g}" for name, value in self.facts.items()})


def _slider(
    kind: Any, words: str, value: float, least: float, most: float, step: float, name: str
) -> Any:
    if not (isinstance(value, int | float) and least <= value <= most):
        raise InvalidArgumentError(words, value, f"a number from {least:g} to {most:g}")
    return named(kind(value=value, min=least, max=most, step=step, description=words), name)
