"""Building blocks of pages: safe fragments of HTML, blocks of text, tables, and the document around them.

Blocks are functions that return `Html`, text that is safe in a page; every other string is plain text and escaped where
it enters a block. `tag` and `join` build anything else. `document` puts sections together with style, script and
controls, and `write` writes the page to a file. `charts` has the charts.

>>> page = document("Results", [Section("Errors", data_table(["data set", "error"], [["<b>", 0.25]], "Errors"))])
>>> "&lt;b&gt;" in page, "<b>" in page
(True, False)
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

from suffice._runtime.atomic_file import check_local, replacing

OWN_ASSETS = tuple(Path(__file__).with_name(name) for name in ("page.js", "page.css"))
VOID = frozenset({"br", "hr", "input", "link", "meta"})
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is already HTML. `tag` and `join` escape every other string.

    >>> Html("<b>bold</b>") + " & plain"
    '<b>bold</b> &amp; plain'
    """

    __slots__ = ()

    def __add__(self, other: str) -> Html:
        return Html(str.__add__(self, text(other)))

    def __radd__(self, other: str) -> Html:
        return Html(str.__add__(text(other), self))

    def __format__(self, spec: str) -> NoReturn:
        # An f-string would turn the fragment into plain text, which would be escaped again.
        raise TypeError("a fragment of HTML does not go into a format string: build it with tag() or join()")


def text(content: object) -> Html:
    """Escape plain content; a fragment stays as it is.

    >>> text("a < b"), text(Html("<br>"))
    ('a &lt; b', '<br>')
    """
    return content if isinstance(content, Html) else Html(escape(FORBIDDEN.sub("\ufffd", str(content))))


def join(parts: Iterable[object], between: object = "") -> Html:
    """Join fragments; None is left out.

    >>> join(["<", None, Html("<br>")], " ")
    '&lt; <br>'
    """
    return Html(str.join(text(between), [text(part) for part in parts if part is not None]))


def tag(element: str, *children: object, **attributes: Any) -> Html:
    """An element with its children; plain text and attributes are escaped.

    `class_` is class, `data_id` is data-id; an attribute that is None or False is left out, True is its own value.

    >>> tag("td", "a < b", class_="near", data_value=0.5, hidden=False)
    '<td class="near" data-value="0.5">a &lt; b</td>'
    """
    given = [(name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items()]
    opened = "".join(
        f' {name}="{str.__str__(text(name if value is True else str(value)))}"'
        for name, value in given
        if value is not None and value is not False
    )
    if element in VOID:
        return Html(f"<{element}{opened}>")
    return Html(f"<{element}{opened}>" + str.__str__(join(children)) + f"</{element}>")


def slug(name: str) -> str:
    """A name in a form that may be an id or part of an address.

    >>> slug("rc1, Table II: <b>")
    'rc1-table-ii-b'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"


LONG, MAX_DECIMALS = 1e12, 9  # from where on, and with how many decimals, a number is a power of ten


def number(value: float, digits: int = 3) -> str:
    """A number with `digits` decimals, commas between thousands, and a true minus sign; a power of ten if it is long.

    >>> number(1e15, 0), number(-1e-9, 9)
    ('1e15', '\u22121e\u22129')
    >>> number(-0.12345), number(1234, 0), number(-0.0001)
    ('\u22120.123', '1,234', '0.000')
    """
    if abs(value) >= LONG or (digits >= MAX_DECIMALS and 0 < abs(value) < 10.0 ** (3 - MAX_DECIMALS)):
        return f"{value:.3g}".replace("e-0", "e-").replace("e+", "e").replace("-", "\u2212")
    shown = f"{value:,.{digits}f}"
    return shown.lstrip("-") if not shown.strip("-0.") else shown.replace("-", "\u2212")


def breakable(name: str) -> Html:
    """A name that may break after an underscore, a full stop, a slash or a hyphen.

    >>> breakable("od280_od315")
    'od280_<wbr>od315'
    """
    return join(re.split(r"(?<=[_./-])(?=\w)", name), Html("<wbr>"))


Kind = Literal["plain", "equal", "near", "off"]


def heading(title: str) -> Html:
    """The heading of a part of a section."""
    return tag("h3", title)


def paragraph(*content: object, quiet: bool = False) -> Html:
    """A paragraph of text and fragments; a quiet one is small and grey."""
    return tag("p", *content, class_="quiet" if quiet else None)


def verdict(*content: object, kind: Kind = "plain") -> Html:
    """A box with the main finding; its kind colours the edge.

    >>> verdict("All cells equal the print.", kind="equal")
    '<p class="verdict is-equal">All cells equal the print.</p>'
    """
    return tag("p", *content, class_=f"verdict is-{kind}")


def bullets(items: Iterable[object]) -> Html:
    """A bulleted list; empty without items."""
    lines = [tag("li", item) for item in items]
    return tag("ul", *lines) if lines else Html()


def block(title: str, *content: object, note: object = None) -> Html:
    """A titled part of a section, with a note below the title; nothing without content."""
    body = join(content)
    below = paragraph(note, quiet=True) if note else None
    return tag("section", heading(title), below, body, class_="block") if body else Html()


def code(source: str) -> Html:
    """Source code to copy; long lines scroll within their own frame."""
    return tag("pre", tag("code", source), tabindex=0, role="region", aria_label="Python code")


def fold(title: object, *content: object, opened: bool = False) -> Html:
    """Content folded away behind its title."""
    return tag("details", tag("summary", title), tag("div", *content, class_="folded"), class_="fold", open=opened)


def grid(parts: Iterable[object]) -> Html:
    """Blocks side by side, as many as fit; nothing without parts."""
    body = join(parts)
    return tag("div", body, class_="grid") if body else Html()


# Shown with the colour of a state, for readers who cannot see it.
MARKS = {"equal": "=", "near": "\u2248", "off": "\u2260"}


class Heading(NamedTuple):
    """A column: its name, the group above it, a tooltip, and whether it holds words instead of numbers."""

    name: str
    group: str = ""
    title: str = ""
    words: bool = False


class Value(NamedTuple):
    """A number in a table: None is a dash. `state` (equal, near, off, missing) colours it, `title` is its tooltip.

    A value below `least` is shown as less than that.
    """

    value: float | None
    digits: int = 3
    state: str = ""
    title: str = ""
    least: float | None = None


def data_table(
    headings: Sequence[Heading | str], rows: Sequence[Sequence[object]], caption: str, filtered: bool = True
) -> Html:
    """A table whose first column names the rows.

    A click on a heading sorts by its column; the filter of the page applies to the names of the rows, and "only cells
    that are off" to the states of the values. Wide tables scroll within their own frame.

    Parameters
    ----------
    headings : sequence of Heading or str
        Neighbours of the same group share a heading above.
    rows : sequences of str, Html, number or Value
        Plain numbers are shown with three decimals.
    caption : str
        A description for screen readers.
    filtered : bool, default=True
        Apply the filter of the page to the rows.
    """
    heads = [head if isinstance(head, Heading) else Heading(head) for head in headings]
    edges = [i > 0 and head.group != heads[i - 1].group for i, head in enumerate(heads)]
    body = []
    for name, *cells in rows:
        off = any(cell.state == "off" for cell in cells if isinstance(cell, Value))
        first = tag("th", name, scope="row", class_="name")
        body.append(tag("tr", first, *map(_cell, cells, edges[1:]), data_off=off))
    if not body:
        body = [tag("tr", tag("td", "nothing measured yet", colspan=len(heads), class_="empty"), class_="none")]
    groups = None
    if any(head.group for head in heads):
        spans = [(group, len(list(members))) for group, members in groupby(heads, key=lambda head: head.group)]
        each = (tag("th", g, colspan=n, scope="colgroup") if g else tag("td", colspan=n) for g, n in spans)
        groups = tag("tr", *each, class_="groups")
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", groups, tag("tr", *map(_head, heads, edges, range(len(heads))))),
        tag("tbody", *body),
        class_="data",
        data_filtered=filtered or None,
    )
    no_match = tag("p", "No row matches the filter.", class_="no-match quiet", hidden=True)
    return scrolling(table, "frame", caption) + no_match


def scrolling(table: Html, kind: str, caption: str) -> Html:
    """A table that scrolls within a frame of its own, which the keyboard can reach."""
    return tag("div", table, class_=kind, tabindex=0, role="region", aria_label=caption)


def _head(head: Heading, edge: bool, at: int) -> Html:
    label = f"{head.group}, {head.name}" if head.group else None
    button = tag("button", head.name, type="button", aria_label=label, title=head.title or None)
    sort = {"aria_sort": "none"} if head.name else {}  # a column without a name cannot be sorted
    kind = "edge" if edge else "name" if at == 0 else "words" if head.words else None
    return tag("th", button if head.name else "", scope="col", **sort, class_=kind)


def _cell(cell: object, edge: bool) -> Html:
    if isinstance(cell, float | int):
        cell = Value(float(cell))
    if not isinstance(cell, Value):
        return tag("td", cell, class_="edge" if edge else None)
    small = cell.value is not None and cell.least is not None and cell.value < cell.least
    value = cell.least if small else cell.value
    shown = "\u2013" if value is None else "<" * small + number(value, cell.digits)
    mark = spoken = None
    if cell.state in MARKS:
        mark = tag("span", MARKS[cell.state], class_="mark", aria_hidden="true")
        spoken = tag("span", cell.state, class_="spoken")
    return tag(
        "td",
        join([mark, shown, spoken]),
        class_=" ".join(filter(None, ("number", cell.state, "edge" * edge))),
        data_value=None if cell.value is None else f"{cell.value:.10g}",
        title=cell.title or None,
    )


class Section(NamedTuple):
    """A foldable part of the page, listed in the table of contents; `badge` stands beside its title."""

    title: str
    body: Html
    name: str = ""  # the anchor; by default made from the title
    badge: Html = Html()


def document(
    title: str,
    sections: Sequence[Section],
    lead: Html | None = None,
    filter_label: str = "Filter data sets",
    only_off: bool = True,
    assets: Sequence[Path] = (),
) -> str:
    """A page as one string.

    Parameters
    ----------
    title : str
        The title of the page and of its tab.
    sections : sequence of Section
    lead : Html, optional
        Content between title and sections.
    filter_label : str, default="Filter data sets"
        The label of the box that filters the rows of all tables by their first cell; "" leaves the box out.
    only_off : bool, default=True
        Add a box "only cells that are off".
    assets : sequence of Path, default=()
        Further scripts (.js) and style sheets (.css), which become part of the page.
    """
    every = [*OWN_ASSETS, *assets]
    scripts = [path.read_text(encoding="utf-8") for path in every if path.suffix == ".js"]
    styles = [path.read_text(encoding="utf-8") for path in every if path.suffix == ".css"]
    # Only scripts with these hashes may run.
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    rules = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; img-src data:"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=rules),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        *(tag("style", Html(style)) for style in styles),
    )
    anchors, links, parts = _anchors(sections), [], []
    for section, anchor in zip(sections, anchors, strict=True):
        links.append(tag("li", tag("a", section.title, href=f"#{anchor}")))
        summary = tag("summary", tag("h2", section.title), section.badge or None)
        content = tag("div", section.body, class_="body")
        parts.append(tag("details", summary, content, id=anchor, class_="part", open=True))
    contents = tag("details", tag("summary", "Contents"), tag("ol", *links), open=True)
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        _controls(filter_label, only_off),
        tag(
            "div",
            tag("nav", contents, aria_label="Contents"),
            tag("main", tag("header", tag("h1", title), lead, class_="lead"), *parts, id="content"),
            class_="page",
        ),
        *(tag("script", Html(script)) for script in scripts),
    )
    return "<!DOCTYPE html>\n" + str.__str__(tag("html", head, body, lang="en")) + "\n"


def _anchors(sections: Sequence[Section]) -> list[str]:
    """Return a different anchor for each section."""
    found: list[str] = []
    for section in sections:
        wanted = slug(section.name or section.title)
        taken = sum(anchor == wanted or anchor.startswith(f"{wanted}--") for anchor in found)
        found.append(f"{wanted}--{taken + 1}" if taken or wanted == "content" else wanted)
    return found


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
    """Write a page atomically: a reader never sees half of it."""
    check_local(path)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "the page") as file:
        file.write(html.encode())
    return path
