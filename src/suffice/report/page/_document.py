"""The whole page: one file without anything from elsewhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from suffice._replacing import replacing
from suffice.report.page._html import Html, join, slug, tag


class Section(NamedTuple):
    """A part of the page that folds, with its entry in the table of contents; `badge` stands beside its title."""

    title: str
    body: Html
    name: str = ""  # its anchor, or else made from the title
    badge: Html = Html()


def document(
    title: str,
    sections: Sequence[Section],
    lead: Html | None = None,
    filter_label: str = "Filter data sets",
    only_off: bool = True,
    assets: Sequence[str] = (),
) -> str:
    """A page as one string.

    Parameters
    ----------
    title : str
        Of the page and of its tab.
    sections : sequence of Section
        Each folds and has its line in the table of contents.
    lead : Html, optional
        What stands between title and sections.
    filter_label : str, default="Filter data sets"
        What the box for text filters: the rows of all tables, by their first cell; "" leaves the box out.
    only_off : bool, default=True
        Whether there is a box "only cells that are off".
    assets : sequence of str, default=()
        Scripts and style sheets of this package that a page needs besides those that all have, by their names.
    """
    scripts = ["page.js", *(name for name in assets if name.endswith(".js"))]
    styles = ["page.css", *(name for name in assets if name.endswith(".css"))]
    anchors = _anchors(sections)
    parts = [_section(section, anchor) for section, anchor in zip(sections, anchors, strict=True)]
    content = tag("main", tag("header", tag("h1", title), lead, class_="lead"), *parts, id="content")
    body = join(
        [
            tag("a", "Skip to the content", href="#content", class_="skip"),
            _controls(filter_label, only_off),
            tag("div", _contents(sections, anchors), content, class_="page"),
            *(tag("script", Html(_asset(name))) for name in scripts),
        ]
    )
    html = tag("html", _head(title, scripts, styles), tag("body", body), lang="en")
    return "<!DOCTYPE html>\n" + str.__str__(html) + "\n"


@cache
def _asset(name: str) -> str:
    return (resources.files("suffice.report.page") / name).read_text(encoding="utf-8")


def _head(title: str, scripts: Sequence[str], styles: Sequence[str]) -> Html:
    # the only scripts that may run are those with these hashes
    hashes = (b64encode(sha256(_asset(name).encode()).digest()).decode() for name in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    rules = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; img-src data:"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=rules),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        *(tag("style", Html(_asset(name))) for name in styles),
    )


def _anchors(sections: Sequence[Section]) -> list[str]:
    """A different anchor for each section."""
    found: list[str] = []
    for section in sections:
        wanted = slug(section.name or section.title)
        taken = sum(anchor == wanted or anchor.startswith(f"{wanted}--") for anchor in found)
        found.append(f"{wanted}--{taken + 1}" if taken or wanted == "content" else wanted)
    return found


def _section(section: Section, anchor: str) -> Html:
    summary = tag("summary", tag("h2", section.title), section.badge or None)
    return tag("details", summary, tag("div", section.body, class_="body"), id=anchor, class_="part", open=True)


def _contents(sections: Sequence[Section], anchors: Sequence[str]) -> Html:
    lines = [
        tag("li", tag("a", section.title, href=f"#{anchor}")) for section, anchor in zip(sections, anchors, strict=True)
    ]
    return tag("nav", tag("details", tag("summary", "Contents"), tag("ol", *lines), open=True), aria_label="Contents")


def _controls(filter_label: str, only_off: bool) -> Html:
    box = tag("input", type="search", id="filter", placeholder=filter_label, aria_label=filter_label)
    off = tag("label", tag("input", type="checkbox", id="only-off"), tag("span", "only cells that are off"))
    return tag(
        "header",
        box if filter_label else None,
        off if only_off else None,
        tag("span", class_="space"),
        tag("button", "Expand all", type="button", id="expand"),
        tag("button", "Collapse all", type="button", id="collapse"),
        tag("button", "Dark", type="button", id="theme"),
        class_="controls",
        aria_label="View",
    )


def write(path: Path | str, html: str) -> Path:
    """Write a page at once or not at all: a reader never meets half of it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "the page") as file:
        file.write(html.encode())
    return path
