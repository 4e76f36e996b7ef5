"""Ours and a peer's timed in turn, A B A B ..., so that whatever else the machine does falls on both.

Threads of linear algebra wait for more work for a while after a call, and keep a core busy with it. So short calls are
timed after some of their own kind, as long as that may last.

A figure is the median of the ratios of such pairs, with the least and the greatest: above 1 is faster than the peer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from rich.table import Table

FEWEST = 3  # pairs, however long they take
BUSY = 0.2  # seconds, for which a call may be felt by the next


@dataclass(frozen=True)
class Case:
    """A comparison: a call of ours, one of a peer, and the ratio to reach."""

    data: str
    what: str
    peer: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    target: float
    unit: str = "s"

    @property
    def name(self) -> str:
        """The key of this case."""
        return f"{self.what}, {self.data}"

    def took(self, call: Callable[[], Any], clock: Callable[[], float]) -> float:
        """The seconds of a call."""
        start = clock()
        call()
        return clock() - start


@dataclass(frozen=True)
class Told(Case):
    """A case whose calls say themselves what they took, in its unit: memory, or the time of another process."""

    def took(self, call: Callable[[], Any], clock: Callable[[], float]) -> float:  # noqa: ARG002 - theirs is another
        """The text of the call."""
        return float(call())


@dataclass(frozen=True)
class Figure:
    """Median of both, the median of their ratios, and its least and greatest."""

    data: str
    what: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    least: float
    most: float
    target: float
    unit: str = "s"
    pairs: int = 0

    @property
    def name(self) -> str:
        """That of its case."""
        return f"{self.what}, {self.data}"


def measure(case: Case, repeat: int, clock: Callable[[], float], patience: float = float("inf")) -> Figure:
    """Time both in turn, several times, after a first call of ours that may compile.

    After `patience` seconds no further pair is begun, if there are a few.
    """
    started = perf_counter()
    case.ours()
    pairs: list[tuple[float, float]] = []
    while len(pairs) < repeat and (len(pairs) < FEWEST or perf_counter() - started < patience):
        usual = pairs[-1] if pairs else (BUSY, BUSY)
        calls = zip((case.ours, case.theirs), usual, strict=True)
        pairs.append(tuple(_settled(case, call, clock, seconds) for call, seconds in calls))
    return figure(case, np.array(pairs))


def _settled(case: Case, call: Callable[[], Any], clock: Callable[[], float], usual: float) -> float:
    """Return the seconds of a call, after others of its kind if it is usually short."""
    began = perf_counter()
    while usual < BUSY and perf_counter() - began < BUSY:
        call()
    return case.took(call, clock)


def figure(case: Case, pairs: Any) -> Figure:
    """The figure of a case from pairs of ours and the peer's (m, 2)."""
    ours, theirs = np.median(pairs, axis=0).tolist()
    ratio = pairs[:, 1] / pairs[:, 0]
    spread = float(np.median(ratio)), float(ratio.min()), float(ratio.max())
    return Figure(case.data, case.what, case.peer, ours, theirs, *spread, case.target, case.unit, len(pairs))


def pair(data: str, ours: Any, theirs: Any, X: Any, y: Any, targets: dict[str, float]) -> Iterator[Case]:
    """Fitting, and what is predicted."""
    ours.fit(X, y)
    theirs.fit(X, y)
    name = type(ours).__name__
    peer = " after ".join(type(step).__name__ for _, step in reversed(getattr(theirs, "steps", [("", theirs)])))
    for what, target in targets.items():
        rows = (X, y) if what == "fit" else (X,)
        mine, other = (partial(getattr(model, what), *rows) for model in (ours, theirs))
        yield Case(data, f"{name} {what}", peer, mine, other, target)


def many(action: Callable[[], Any], times: int) -> Callable[[], None]:
    """Return a call that repeats a short one."""

    def all_of_them() -> None:
        for _ in range(times):
            action()

    return all_of_them


def shown(figures: list[Figure], title: str) -> Table:
    """A table to read; a ratio below its target is marked."""
    table = Table("data", "what", "peer", "ours", "peer's", "ratio", "from - to", "target", title=title)
    for f in figures:
        ratio = f"{f.ratio:.2f}" + " !" * (f.ratio < f.target)
        spread, both = f"{f.least:.2f} - {f.most:.2f}", (f"{f.ours:.3g} {f.unit}", f"{f.theirs:.3g} {f.unit}")
        table.add_row(f.data, f.what, f.peer, *both, ratio, spread, f"{f.target:.2f}")
    return table
