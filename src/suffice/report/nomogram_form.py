"""The part of a model's page where a row can be set: controls, probabilities and a waterfall, for a script to fill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice._vector import Array
from suffice.report import page
from suffice.report.controls import Control, named
from suffice.report.page import Html, tag
from suffice.report.page._shapes import breakable

DATE = "2024-12-31"  # how dates are typed
SHOWN = 60  # columns that are not folded away
FEW = 4  # classes that a narrow screen shows at a time
CLASSES = 8  # that the page shows at a time; so many have colours


def form(
    data: dict[str, Any], controls: Sequence[Control], order: Sequence[int], counts: Array, lacking: Sequence[str] = ()
) -> Html:
    """Controls in an order, the most important first, and what a row that is set with them leads to.

    `lacking`: of each row that was given, the column for lack of which it cannot be set, or "".
    """
    rows = [_control(controls[i], i) for i in order]
    more = rows[SHOWN:]
    folded = page.fold(f"{len(more)} more columns, which count as they are set", *more) if more else None
    set_ = tag("div", _tools(lacking), *rows[:SHOWN], folded, class_="set")
    told = tag("div", _answer(data["classes"], counts), _why(data["classes"]), class_="told")
    return tag("div", told, set_, class_="nomogram") + _embedded(data)


def _embedded(data: dict[str, Any]) -> Html:
    """The numbers, as text that ends no script."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return tag("script", Html(safe), type="application/json", id="nomogram-data")


def _tools(lacking: Sequence[str]) -> Html:
    typical = tag("button", "Typical row", type="button", id="typical")
    if not lacking:
        return tag("div", typical, class_="bar-of")
    options = [tag("option", "\u2013", value="")]
    for i, column in enumerate(lacking):
        said = f"row {i + 1}" + f" (lacks {column})" * bool(column)
        options.append(tag("option", said, value=i, disabled=bool(column)))
    pick = tag("label", tag("span", "A row that was given"), tag("select", *options, id="example"), class_="pick")
    return tag("div", typical, pick, class_="bar-of")


def _control(control: Control, at: int) -> Html:
    unit = tag("span", f" ({control.unit})", class_="unit") if control.unit else None
    name = tag("label", breakable(control.name), unit, for_=f"column-{at}")
    adds = tag("output", class_="adds", for_=f"column-{at}", aria_label=f"what {control.name} adds")
    parts = _number(control, at) if control.numeric else _menu(control, at)
    return tag("div", name, *parts, adds, class_="control", data_column=at)


def _menu(control: Control, at: int) -> list[Html]:
    options = [tag("option", text, value=i, selected=i == control.start) for i, text in enumerate(control.options)]
    besides = [tag("option", "(another value)", value=-2), tag("option", "(missing)", value=-1)]
    return [tag("select", *options, *besides, id=f"column-{at}")]


def _number(control: Control, at: int) -> list[Html]:
    low, high, step, start = (f"{x:.15g}" for x in (control.low, control.high, control.step, control.start))
    ends = {"min": low, "max": high, "step": step, "value": start}
    if control.stops:  # the slider counts them
        place = control.stops.index(control.start)
        ends = {"min": "0", "max": str(len(control.stops) - 1), "step": "1", "value": str(place)}
    strip = tag(
        "svg",
        tag("path", d="M0 12H100", class_="zero"),
        tag("path", class_="effect"),
        viewBox="0 0 100 24",
        preserveAspectRatio="none",
        class_="strip",
        aria_hidden="true",
    )
    slider = tag("input", type="range", aria_label=f"{control.name}, slider", **ends)
    slide = tag("div", strip, slider, class_="slide")
    typed = {"type": "text", "placeholder": DATE} if control.dates else {"type": "number", "step": "any"}
    mode = None if control.dates else "decimal"
    box = tag("input", **typed, value=None if control.dates else start, id=f"column-{at}", inputmode=mode, class_="box")
    tick = tag("input", type="checkbox", aria_label=f"{control.name} is missing")
    hole = tag("label", tick, tag("span", "missing"), class_="hole") if control.optional else tag("span", class_="hole")
    return [slide, box, hole]


def _answer(classes: Sequence[str], counts: Array) -> Html:
    """A bar for each class."""
    order = np.argsort(-counts, kind="stable").tolist() if len(classes) > CLASSES else range(len(classes))
    lines = [
        tag(
            "tr",
            tag("th", classes[c], scope="row"),
            tag("td", tag("span", tag("span", class_="fill"), class_="lane")),
            tag("td", class_="number"),
            class_=f"s{c if len(classes) <= CLASSES else 0}",
            data_class=c,
        )
        for c in order
    ]
    last = (tag("th", "others", scope="row"), tag("td"), tag("td", class_="number"))
    wide = tag("tr", *last, class_="others quiet", hidden=len(classes) <= CLASSES)
    narrow = tag("tr", *last, class_="others quiet narrow", hidden=len(classes) <= FEW)
    body, caption = tag("tbody", *lines, wide, narrow), tag("caption", "Probabilities", class_="spoken")
    table = tag("table", caption, body, class_="classes many" if len(classes) > FEW else "classes")
    status = tag("p", role="status", class_="spoken")
    return tag("div", page.heading("Probabilities"), table, status, class_="answer")


def _why(classes: Sequence[str]) -> Html:
    first = "the most probable"
    options = [tag("option", first, value="", selected=len(classes) != 2)]
    options += [
        tag("option", name, value=c, selected=len(classes) == 2 and c == 1)
        for c, name in enumerate(map(named, classes))
    ]
    pick = tag("label", tag("span", "Class"), tag("select", *options, id="against"), class_="pick")
    note = tag("p", "What each column adds to ", tag("b", class_="of-class"), ".", class_="quiet")
    none = "Every class is ruled out by some column, so that the probabilities mean little."
    ruled = tag("p", none, class_="quiet", id="ruled-out", hidden=True)
    return tag("div", page.heading("Why"), pick, note, ruled, tag("ol", class_="waterfall"), class_="why")
