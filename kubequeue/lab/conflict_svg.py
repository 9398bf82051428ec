"""Two writers, the server and the cache between them, each with the version that it has."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kubequeue.lab import style
from kubequeue.lab.conflict import CACHE, OPERATOR, SERVER, USER, Moment
from kubequeue.lab.svg import Box, Point, arrow, rectangle, text

WIDTH, HEIGHT = 1100, 226
_BOXES = {
    USER: Box(20, 56, 190, 92),
    SERVER: Box(380, 56, 210, 92),
    OPERATOR: Box(890, 20, 190, 92),
    CACHE: Box(680, 136, 210, 78),
}
_NAMES = {
    USER: "a user",
    SERVER: "Kubernetes API",
    OPERATOR: "the operator",
    CACHE: "the operator's cache",
}
_WAYS: dict[tuple[str, str], list[Point]] = {
    (USER, SERVER): [(212, 88), (376, 88)],
    (SERVER, USER): [(378, 126), (214, 126)],
    (OPERATOR, SERVER): [(888, 72), (594, 72)],
    (SERVER, CACHE): [(592, 128), (640, 174), (676, 174)],
    (CACHE, OPERATOR): [(892, 174), (984, 174), (984, 116)],
}
_WORDS = {
    (USER, SERVER): (294, 80, "writes spec"),
    (SERVER, USER): (294, 144, "reads"),
    (OPERATOR, SERVER): (740, 64, "writes status"),
    (SERVER, CACHE): (600, 196, "watch"),
    (CACHE, OPERATOR): (1000, 158, "reads"),
}


def conflict_svg(moment: Moment) -> str:
    """The SVG of one moment; the way that something went is in the accent."""
    parts = [
        f'<svg class="kq-svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" '
        f'xmlns="http://www.w3.org/2000/svg" aria-label="{escape(described(moment))}">',
        *(part for name in _BOXES for part in _box(name, moment)),
        *(part for way in _WAYS for part in _way(way, moment)),
        "</svg>",
    ]
    return "".join(parts)


def described(moment: Moment) -> str:
    """The moment in words."""
    held = [
        f"{_NAMES[who]}: {f'version {version}' if version else 'nothing yet'}"
        for who, version in moment.versions.items()
    ]
    return f"At {moment.at:.3f} s: {moment.sentence} {'; '.join(held)}."


def _box(name: str, moment: Moment) -> Iterator[str]:
    box, version = _BOXES[name], moment.versions[name]
    newest = moment.versions[SERVER]
    yield rectangle(box, style.PANEL, style.SOFT_INK if name == SERVER else style.LINES, 1.5)
    middle = box.x + box.width / 2
    yield text(middle, box.y + 24, _NAMES[name], 15, style.INK, "middle", bold=True)
    if not version:
        yield text(middle, box.y + 58, "nothing yet", 13, style.SOFT_INK, "middle")
        return
    fill = style.KEY_COLOURS[version - 1]
    chip = Box(middle - 50, box.y + 36, 100, 26)
    yield rectangle(chip, fill, fill)
    ink = style.text_colour(fill)
    yield text(middle, chip.y + 18, f"version {version}", 13, ink, "middle", bold=True)
    if version < newest and box.height > 80:
        yield text(middle, box.y + 80, "old", 13, style.SOFT_INK, "middle")


def _way(way: tuple[str, str], moment: Moment) -> Iterator[str]:
    acts = way == moment.way
    colour = style.ACCENT if acts else style.OTHER
    yield arrow(_WAYS[way], colour, 3 if acts else 1.5)
    x, y, words = _WORDS[way]
    if acts and moment.outcome:
        words = {"written": "✓ written", "Conflict": "✗ Conflict"}[moment.outcome]
    anchor = "start" if way == (CACHE, OPERATOR) else "middle"
    ink = style.ACCENT if acts else style.SOFT_INK
    yield text(x, y, words, 14 if acts else 12, ink, anchor, bold=acts)
