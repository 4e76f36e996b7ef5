"""Blocks that only the page of the benchmark has: thin bars of counts, choosers, and figures of matplotlib."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure

from suffice.report.page import Html, join, slug, tag

ASSETS = tuple(Path(__file__).with_name(name) for name in ("blocks.js", "blocks.css"))
# Elements that do not go into a page: metadata has a date, and style rules would apply to the whole page.
SVG_LEFT_OUT = {"metadata", "style", "title"}
INK = re.compile(r"#(000000|222222)\b")
REFERENCE = re.compile(r"#(?=[\w-]+\))")


def stacked_bar(counts: Mapping[str, int], title: str) -> Html:
    """A thin bar divided by counts; the names (equal, near, off) are also style classes of its parts."""
    total = sum(counts.values())
    parts, start = [], 0.0
    for name, count in counts.items():
        width = 100 * count / total if total else 0.0
        if count:
            tip = tag("title", f"{name}: {count} of {total}")
            parts.append(tag("rect", tip, x=f"{start:.2f}", width=f"{width:.2f}", height=10, class_=name))
        start += width
    return tag(
        "svg",
        tag("title", title),
        *parts,
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_="stacked",
        role="img",
    )


def chooser(name: str, labels: Sequence[str], panes: Mapping[tuple[str, ...], Html]) -> Html:
    """One of several fragments, chosen with a select control for each label.

    Parameters
    ----------
    name : str
        Unique on the page; ids of the controls begin with it.
    labels : sequence of str
        The names of the controls, such as "Data set" and "Loss".
    panes : mapping
        A fragment for each choice, a tuple as long as `labels`; the first one is shown initially. Combinations may
        be missing.
    """
    if not panes:
        return Html()
    options = [list(dict.fromkeys(key[i] for key in panes)) for i in range(len(labels))]
    controls = [
        tag(
            "label",
            tag("span", label),
            tag(
                "select", *(tag("option", choice, value=j) for j, choice in enumerate(choices)), id=f"{slug(name)}-{i}"
            ),
            class_="pick",
            hidden=len(choices) < 2,
        )
        for i, (label, choices) in enumerate(zip(labels, options, strict=True))
    ]
    shown = [
        tag(
            "div",
            pane,
            class_="pane",
            data_pick=" ".join(str(options[i].index(part)) for i, part in enumerate(key)),
            hidden=at > 0,
        )
        for at, (key, pane) in enumerate(panes.items())
    ]
    nothing = tag("p", "Nothing was measured for this choice.", class_="pane-missing quiet", hidden=True)
    return tag("div", tag("div", *controls, class_="picks"), *shown, nothing, class_="chooser")


def figure(drawn: Figure, name: str, title: str) -> Html:
    """Embed a figure of matplotlib as SVG.

    Parameters
    ----------
    drawn : matplotlib Figure
        Black becomes the colour of the text of the page, and the background see-through.
    name : str
        Unique on the page; ids within the figure begin with it.
    title : str
        A description for screen readers.
    """
    text = StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "suffice"}):
        drawn.savefig(text, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None})
    root = ElementTree.fromstring(text.getvalue())  # noqa: S314 - written three lines above
    content = join(_element(child, slug(name)) for child in root)
    picture = tag("svg", content, viewBox=root.get("viewBox"), role="img", aria_label=title)
    return tag("figure", picture, class_="chart drawn", tabindex=0)


def _element(node: ElementTree.Element, name: str) -> Html:
    """Return an element without its name space, with ids that begin with a name."""
    element = _local(node.tag)
    if element in SVG_LEFT_OUT:
        return Html()
    attributes = {_local(key): _value(_local(key), value, name) for key, value in node.attrib.items()}
    children = [part for child in node for part in (_element(child, name), child.tail or "")]
    return tag(element, (node.text or "").strip("\n"), *children, **attributes)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return INK.sub("currentColor", value if "url(" not in value else REFERENCE.sub(f"#{name}-", value))
