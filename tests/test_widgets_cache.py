"""The cache panel: each control changes the story, and the picture follows."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from widget_parts import find

from kubequeue import InvalidArgumentError
from kubequeue.lab.widgets import CachePanel


def said(panel: CachePanel) -> str:
    """What stands under the picture."""
    return unescape(re.sub(r"<[^>]+>", "", find(panel, "kq-sentence").value))


def test_the_panel_begins_with_a_late_cache_and_a_memory() -> None:
    """One Pod is asked for and one is made, while rounds leave the group alone."""
    panel = CachePanel()
    assert panel.story.facts["Pods created"] == "1"
    assert int(panel.story.facts["rounds that left the group alone"]) > 0
    assert said(panel) == panel.story.sentence
    assert "still 1 Pod" in find(panel, "kq-seen").value


@pytest.mark.parametrize(
    ("control", "value", "facts"),
    [
        ("kq-lag", 0, {"too many": "0", "rounds that left the group alone": "0"}),
        ("kq-lag", 36, {"too many": "1", "Pods created": "2"}),
        ("kq-memory", False, {"too many": "2", "Pods at the end": "2"}),
        ("kq-vanish", True, {"Pods created": "2", "too many": "0", "Pods at the end": "2"}),
        ("kq-lose-answer", True, {"Pods created": "2", "too many": "1"}),
        ("kq-crash", True, {"too many": "0", "longest gap (s)": "1.95"}),
    ],
)
def test_each_control_changes_the_story(control: str, value: Any, facts: dict[str, str]) -> None:
    """Alone, from the same beginning; picture, sentence and table are of one story."""
    panel = CachePanel(lag=6)
    before = find(panel, "kq-seen").value
    find(panel, control).value = value
    assert {name: panel.story.facts[name] for name in facts} == facts
    picture = find(panel, "kq-seen").value
    assert picture != before
    ElementTree.fromstring(picture)
    for number in panel.story.facts.values():
        assert f">{number}</td>" in find(panel, "kq-facts").value
    assert said(panel) == panel.story.sentence


def test_every_combination_can_be_drawn() -> None:
    """However the switches stand, at both ends of the lag."""
    panel = CachePanel()
    switches = (panel.memory, panel.vanish, panel.lose_answer, panel.crash)
    for lag in (0, 6, 36):
        panel.lag.value = lag
        for number in range(16):
            for bit, switch in enumerate(switches):
                switch.value = bool(number >> bit & 1)
            ElementTree.fromstring(find(panel, "kq-seen").value)
            assert int(panel.story.facts["too many"]) >= 0


def test_a_switch_says_whether_it_is_on() -> None:
    """By a mark, so that it can be told in grey and without seeing what is pressed."""
    panel = CachePanel()
    assert find(panel, "kq-memory").description == "☑ expectations"
    find(panel, "kq-memory").value = False
    assert find(panel, "kq-memory").description == "☐ expectations"


def test_a_lost_answer_does_no_harm_when_the_cache_is_in_time() -> None:
    """The next round sees the Pod that the last one was not told of."""
    panel = CachePanel(lag=0)
    panel.lose_answer.value = True
    assert panel.story.facts["Pods created"] == "1"


@pytest.mark.parametrize("lag", [-1, 37, 1.5, "6", True])
def test_a_lag_of_the_wrong_kind_is_refused(lag: Any) -> None:
    """A slider has its bounds."""
    with pytest.raises(InvalidArgumentError, match="a whole number from 0 to 36"):
        CachePanel(lag=lag)
