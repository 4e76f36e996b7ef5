"""Blocks of text: headings, paragraphs, lists, verdicts, and what holds other blocks together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from suffice.report.page._html import Html, join, slug, tag

Kind = Literal["plain", "equal", "near", "off"]


def heading(title: str, level: int = 3, anchor: str | None = None) -> Html:
    """A heading; `anchor` is its id.

    >>> heading("Times", 3)
    '<h3>Times</h3>'
    """
    return tag(f"h{level}", title, id=anchor)


def paragraph(*content: object, quiet: bool = False) -> Html:
    """A paragraph of text and fragments; a quiet one is small and grey."""
    return tag("p", *content, class_="quiet" if quiet else None)


def verdict(*content: object, kind: Kind = "plain") -> Html:
    """A box with the finding that matters; its kind colours the edge.

    >>> verdict("All cells equal the print.", kind="equal")
    '<p class="verdict is-equal">All cells equal the print.</p>'
    """
    return tag("p", *content, class_=f"verdict is-{kind}")


def bullets(items: Iterable[object]) -> Html:
    """A list; nothing for no items."""
    lines = [tag("li", item) for item in items]
    return tag("ul", *lines) if lines else Html()


def block(title: str, *content: object, note: object = None) -> Html:
    """A titled part of a section; `note` says below the title what is shown. Nothing without content."""
    body = join(content)
    said = tag("p", note, class_="quiet") if note else None
    return tag("section", heading(title), said, body, class_="block") if body else Html()


def code(source: str) -> Html:
    """A program to be copied; what is too wide scrolls within its own frame."""
    return tag("pre", tag("code", source), tabindex=0, role="region", aria_label="Python code")


def fold(title: object, *content: object, opened: bool = False) -> Html:
    """Content that is folded away behind its title."""
    return tag("details", tag("summary", title), tag("div", *content, class_="folded"), class_="fold", open=opened)


def grid(parts: Iterable[object]) -> Html:
    """Blocks side by side, as many as the screen has room for; nothing for no parts."""
    body = join(parts)
    return tag("div", body, class_="grid") if body else Html()


def chooser(name: str, labels: Sequence[str], panes: Mapping[tuple[str, ...], Html]) -> Html:
    """One of several fragments, picked by one select control for each label.

    Parameters
    ----------
    name : str
        Unique on the page: the controls are called after it.
    labels : sequence of str
        What is picked, such as "Data set" and "Loss".
    panes : mapping
        A fragment for each choice, a tuple as long as `labels`; the first is shown at first. Not every combination
        needs one.
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
