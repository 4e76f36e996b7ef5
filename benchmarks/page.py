"""The measured part of docs/speed.md, written from the JSON files in benchmarks/measured.

Usage: python -m benchmarks.page
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.growth import ESTIMATORS, Line, Point, lines
from benchmarks.growth_figures import draw
from benchmarks.speed import How
from benchmarks.timing import Figure

ROOT = Path(__file__).parents[1]
MEASURED, PAGE = ROOT / "benchmarks" / "measured", ROOT / "docs" / "speed.md"
BEGIN, END = "<!-- measured: written by python -m benchmarks.page -->", "<!-- end of what is measured -->"
LONG = {"n": "rows", "d": "columns", "k": "classes"}


def row(*cells: Any) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def header(*names: str) -> Iterator[str]:
    """The first two lines of a table."""
    yield row(*names)
    yield "|" + "---|" * len(names)


def amount(value: float, unit: str) -> str:
    """A number of seconds or MB, to three digits.

    >>> amount(0.01234, "s"), amount(6012.3, "MB")
    ('12.3 ms', '6012 MB')
    """
    if unit == "s" and value < 1:
        value, unit = 1000 * value, "ms"
    return f"{value:.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"


def rows_of(data: str) -> str:
    """Sizes with their thousands apart.

    >>> rows_of("1000000 x 20, 3 classes")
    '1,000,000 x 20, 3 classes'
    """
    return " ".join(f"{int(word):,}" if word.isdigit() else word for word in data.split(" "))


def clock(how: dict[str, Any]) -> str:
    """Which time was taken, and with how many threads."""
    which = "Time of the processor" if how["cpu"] else "Time by the clock"
    return f"{which}, {how['threads']} thread{'s' * (how['threads'] > 1)}"


def speed(told: dict[str, Any]) -> Iterator[str]:
    """Ratios to peers."""
    how, figures = How(**told["how"]), [Figure(**figure) for figure in told["figures"]]
    yield "### Beside peers"
    yield ""
    yield f"`make benchmark`. {clock(told['how'])}; the median ratio of up to {how.repeat} pairs with the least and the"
    yield "greatest, the peer's over ours: above 1 is faster, or takes less memory."
    yield ""
    yield from header("what", "data", "peer", "ours", "ratio", "from - to", "aimed for")
    for f in figures:
        asked = f"{f.target:.2g}" + " (missed)" * (f.ratio < f.target)
        mine, spread = amount(f.ours, f.unit), f"{f.least:.2f} - {f.most:.2f}"
        yield row(f.what, rows_of(f.data), f.peer, mine, f"**{f.ratio:.2f}**", spread, asked)
    yield ""


def growth(told: dict[str, Any]) -> Iterator[str]:
    """Slopes and memory."""
    found = lines([Point(**point) for point in told["points"]])
    yield "### How time and memory grow"
    yield ""
    yield f"`make bench-growth`. {clock(told['how'])}. A slope is the power of the size that time grows with."
    yield "Memory is the most that a call takes beyond its rows and its answers, at the smallest and the largest size."
    yield "A fit costs one to three milliseconds whatever the rows, and more where cells are chosen. Beside a few ns"
    yield "a row that is seen at 100,000 rows: slopes of fits are below 1, and the larger half stands apart."
    yield ""
    for axis in dict.fromkeys(line.axis for line in found):
        yield from _along(axis, [line for line in found if line.axis == axis])


def _along(axis: str, found: list[Line]) -> Iterator[str]:
    sizes = found[0].sizes
    yield f"![Time against {LONG[axis]}](growth-{axis}.svg)"
    yield ""
    title, late = f"{LONG[axis]}: {sizes[0]:,} to {sizes[-1]:,}", f"slope from {sizes[len(sizes) // 2]:,}"
    yield from header(title, "peer", "slope", late, "peer's slope", "largest", "ratio there", "memory")
    for line in found:
        ours, theirs = line.slopes
        memory = f"{line.memory[0] / 1e6:.0f} to {line.memory[-1] / 1e6:.0f} MB"
        last = amount(line.ours[-1], "s"), f"{line.ratio:.1f}"
        what, peer = f"{line.estimator} {line.call}", ESTIMATORS[line.estimator].peer
        yield row(what, peer, f"**{ours:.2f}**", f"{line.late:.2f}", f"{theirs:.2f}", *last, memory)
    yield ""


def mnist(told: dict[str, Any]) -> Iterator[str]:
    """Raw digits."""
    yield "### Raw digits"
    yield ""
    yield "`make bench-mnist`. MNIST as it is: 60,000 rows to learn, 10,000 to test, 784 pixels, 10 classes."
    yield f"{clock(told['how'])}. What had to be chosen was chosen on a sixth of the rows to learn."
    yield ""
    yield from header("classifier", "chosen", "test error", "log loss", "fit", "predict_proba", "memory of the fit")
    for one in told["results"]:
        measures = f"{100 * one['error']:.2f} %", f"{one['log_loss']:.3f}"
        times = amount(one["fit"], "s"), amount(one["predict"], "s"), amount(one["memory"] / 1e6, "MB")
        yield row(one["name"], one["chosen"] or "-", *measures, *times)
    yield ""


PARTS = {"speed": speed, "growth": growth, "mnist": mnist}


def text(folder: Path = MEASURED) -> str:
    """Return the measurements as Markdown."""
    parts = [BEGIN, ""]
    for name, part in PARTS.items():
        path = folder / f"{name}.json"
        if path.exists():
            parts += part(json.loads(path.read_text()))
    return "\n".join([*parts, END])


def replaced(page: str, part: str) -> str:
    """The page with another measured part."""
    before, rest = page.split(BEGIN)
    return before + part + rest.split(END)[1]


def main() -> None:
    """Write the page and the figures."""
    PAGE.write_text(replaced(PAGE.read_text(), text()))
    grown = MEASURED / "growth.json"
    if grown.exists():
        draw(lines([Point(**point) for point in json.loads(grown.read_text())["points"]]), PAGE.parent)


if __name__ == "__main__":
    main()
