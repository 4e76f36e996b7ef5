"""Figures of matplotlib as inline SVG: the same bytes every time, and in the colours of the page."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from suffice._extras import optional
from suffice.report.page._html import Html, join, slug, tag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEFT_OUT = {"metadata", "style", "title"}  # a date, and rules that would reach the whole page
INK = re.compile(r"#(000000|222222)\b")
REFERENCE = re.compile(r"#(?=[\w-]+\))")


def figure(drawn: Figure, name: str, title: str) -> Html:
    """A figure of matplotlib as a fragment.

    Parameters
    ----------
    drawn : matplotlib Figure
        Black becomes the colour of the text of the page, and the background see-through.
    name : str
        Unique on the page: the ids within the figure begin with it.
    title : str
        What the figure shows, for those who hear it.
    """
    mpl = optional("matplotlib", "plot")
    text = StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "suffice"}):
        drawn.savefig(text, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None})
    root = ElementTree.fromstring(text.getvalue())  # noqa: S314 - written three lines above
    content = join(_element(child, slug(name)) for child in root)
    picture = tag("svg", content, viewBox=root.get("viewBox"), role="img", aria_label=title)
    return tag("figure", picture, class_="chart drawn", tabindex=0)


def _element(node: ElementTree.Element, name: str) -> Html:
    """An element without its name space, its ids made unique by a name."""
    element = _local(node.tag)
    if element in LEFT_OUT:
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
