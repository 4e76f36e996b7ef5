"""Safe fragments of HTML: a plain string is escaped where it enters a fragment, a fragment never again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any, NoReturn

VOID = frozenset({"br", "hr", "input", "link", "meta"})
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is HTML already. Every other string is plain text, which `tag` and `join` escape.

    >>> Html("<b>bold</b>") + " & plain"
    '<b>bold</b> &amp; plain'
    """

    __slots__ = ()

    def __add__(self, other: str) -> Html:
        return Html(str.__add__(self, text(other)))

    def __radd__(self, other: str) -> Html:
        return Html(str.__add__(text(other), self))

    def __format__(self, spec: str) -> NoReturn:
        # an f-string would turn the fragment into plain text, which is then escaped a second time
        raise TypeError("a fragment of HTML does not go into a format string: build it with tag() or join()")


def text(content: object) -> Html:
    """Plain content as a fragment; a fragment stays as it is.

    >>> text("a < b"), text(Html("<br>"))
    ('a &lt; b', '<br>')
    """
    return content if isinstance(content, Html) else Html(escape(FORBIDDEN.sub("\ufffd", str(content))))


def join(parts: Iterable[object], between: object = "") -> Html:
    """Fragments in a row; None is left out.

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
    """A name as it may stand in an address or an id.

    >>> slug("rc1, Table II: <b>")
    'rc1-table-ii-b'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"


def number(value: float, digits: int = 3) -> str:
    """A number with that many decimals, commas between thousands, and a true minus sign.

    >>> number(-0.12345), number(1234, 0), number(-0.0001)
    ('\u22120.123', '1,234', '0.000')
    """
    shown = f"{value:,.{digits}f}"
    return shown.lstrip("-") if not shown.strip("-0.") else shown.replace("-", "\u2212")
