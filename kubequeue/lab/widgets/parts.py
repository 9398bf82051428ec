"""Buttons and boxes with the class by which a page, and a test of it, can find them."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as w

KEY_BAR = """
<div class="kq-keys" tabindex="0" role="group"
 aria-label="Keyboard: right arrow steps forward, left arrow steps back, space plays and pauses"
 onfocus="this.closest('.kq-stepper').querySelector('.kq-sentence')
  .setAttribute('aria-live', 'polite'); this.style.outline = '2px solid #B44D12'"
 onblur="this.style.outline = 'none'"
 onkeydown="const name = {ArrowRight: 'kq-step', ArrowLeft: 'kq-back', ' ': 'kq-play'}[event.key];
  if (name) { event.preventDefault(); event.stopPropagation();
   this.closest('.kq-stepper').querySelector('.' + name).click(); }"
 style="padding: 2px 8px; color: #52606D; font-size: 13px; border-radius: 6px; cursor: pointer"
>Click here, then use the keyboard: <b>←</b> back, <b>→</b> step, <b>space</b> play or pause.</div>
"""

_OWN_KEYS = """<style onload="let tries = 100;
 const mark = () => { const whole = this.closest('.{}');
  if (whole) {
   whole.addEventListener('focusin', (event) =>
    event.target.setAttribute('data-lm-suppress-shortcuts', 'true'));
   whole.addEventListener('keydown', (event) => {
    const name = {Home: '.kq-first', End: '.kq-last'}[event.key];
    const button = name && event.target.closest('.kq-slider') && whole.querySelector(name);
    if (button) { event.preventDefault(); event.stopPropagation(); button.click(); }
   }, true);
  } else if (tries--) requestAnimationFrame(mark); }; mark()"></style>"""


def own_keys(name: str) -> Any:
    """An empty part that keeps the keys pressed inside of the widget of class ``name`` to it.

    JupyterLab takes letters and arrows for itself otherwise: in a drop-down, b would insert a cell.
    On a slider, End would lead to where its end was at first, so it presses the button ``kq-last``.
    """
    return w.HTML(_OWN_KEYS.replace("{}", name), layout=w.Layout(display="none"))


def fold(words: str, name: str, folded: Any) -> Any:
    """A button that shows ``folded`` and hides it again, and says which comes next."""

    def turn() -> None:
        hidden = folded.layout.display == "none"
        folded.layout.display = None if hidden else "none"
        made.description = f"▾ hide {words}" if hidden else f"▸ show {words}"

    made = button(f"▸ show {words}", name, turn)
    folded.layout.display = "none"
    return w.VBox([made, folded])


def named(widget: Any, name: str) -> Any:
    """The widget, with a class of its own."""
    widget.add_class(name)
    return widget


def button(words: str, name: str, act: Callable[[], object], tip: str = "") -> Any:
    """A button that calls ``act``; ``tip`` says what it does, also to a screen reader."""
    made = named(w.Button(description=words, tooltip=tip or words), name)
    made.layout.width = "auto"
    made.on_click(lambda _: act())
    return made


def say(words: str) -> str:
    """A sentence under a picture, also for a screen reader; ``words`` are HTML."""
    return (
        '<div role="status" style="background:#FFF6EC; border:1px solid #F0C9A0; padding:8px '
        f'14px; border-radius:8px; font-size:15px; color:#1F2933; line-height:1.4">{words}</div>'
    )


def table(rows: dict[str, str]) -> str:
    """An HTML table of two columns."""
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left; padding:2px 16px 2px 0">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f'<table style="font-size:13px; line-height:1.35; color:#1F2933">{cells}</table>'
