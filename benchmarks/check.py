"""Check that no ratio to a peer has fallen: a short run against the committed floors, `benchmarks/floors.json`.

A floor is the median ratio of the run that wrote it, with its noise: how far the least ratio of that run lay below the
median, at least 25 and at most 40 percent, as by the clock two runs differ by up to a fifth. A ratio has fallen if it
is below floor x (1 - noise), and is so again when it is measured once more. The settings of a run (rows, threads,
clock) are those that its floors were written with.

Usage: python -m benchmarks.check [--floors FILE]
       python -m benchmarks.check --write-floors [--threads 2] [--cpu] [--floors FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from benchmarks.speed import GROUPS, How, to_stderr
from benchmarks.timing import Figure

FLOORS = Path(__file__).with_name("floors.json")
NOISE = (0.25, 0.4)  # at least, at most
SHARE = 0.2  # of a group's rows, and of some groups; 0 leaves a group out
SHARES = {
    "import": 1.0,
    "small": 1.0,
    "strings": 0.1,
    "wide-strings": 0.1,
    "quadratic": 1.0,
    "wide-quadratic": 0.0,
    "default": 1.0,
    "large-default": 0.1,
}


@dataclass(frozen=True)
class Floor:
    """A ratio that was measured, and the share of it that counts as noise."""

    ratio: float
    noise: float

    @classmethod
    def of(cls, figure: Figure) -> Floor:
        """The floor that a figure leaves behind."""
        least, most = NOISE
        return cls(round(figure.ratio, 3), round(min(most, max(least, 1 - figure.least / figure.ratio)), 3))

    @property
    def lowest(self) -> float:
        """The cases that have not fallen yet."""
        return self.ratio * (1 - self.noise)


@dataclass(frozen=True)
class Verdict:
    """A case with its ratio and its floor, of which one may be missing, and what is to be said of them."""

    name: str
    ratio: float | None
    floor: Floor | None

    @property
    def fell(self) -> bool:
        """Below the floor by more than the noise."""
        return self.ratio is not None and self.floor is not None and self.ratio < self.floor.lowest

    @property
    def fails(self) -> bool:
        """Fallen, or not measured any more."""
        return self.fell or self.ratio is None

    @property
    def said(self) -> str:
        """In words."""
        if self.ratio is None:
            return "has a floor, but is not measured any more: --write-floors"
        if self.floor is None:
            return "new, without a floor: --write-floors"
        return "fell" if self.fell else "holds"


def verdicts(figures: list[Figure], floors: dict[str, Floor]) -> list[Verdict]:
    """Every figure and every floor, those that fail first; of a case measured twice the better one counts."""
    ratios: dict[str, float] = {}
    for figure in figures:
        ratios[figure.name] = max(figure.ratio, ratios.get(figure.name, 0.0))
    names = list(dict.fromkeys([*ratios, *floors]))
    found = [Verdict(name, ratios.get(name), floors.get(name)) for name in names]
    return sorted(found, key=lambda verdict: not verdict.fails)


def read(path: Path) -> tuple[How, dict[str, Floor]]:
    """How floors were measured, and the floors by the names of their cases."""
    if not path.exists():
        raise SystemExit(f"there are no floors at {path}: write them with --write-floors")
    told = json.loads(path.read_text())
    return How(**told["how"]), {name: Floor(**floor) for name, floor in told["floors"].items()}


def write(path: Path, how: How, figures: list[Figure]) -> None:
    """The floors of a run."""
    told = {"how": asdict(how), "floors": {figure.name: asdict(Floor.of(figure)) for figure in figures}}
    path.write_text(json.dumps(told, indent=1) + "\n")


def shown(found: list[Verdict]) -> Table:
    """A table of what fails, or of all."""
    table = Table("what", "ratio", "floor", "noise", "", title="The peer's time / ours, beside its floor")
    for verdict in found:
        floor = ("", "") if verdict.floor is None else (f"{verdict.floor.ratio:.2f}", f"{verdict.floor.noise:.0%}")
        ratio = "" if verdict.ratio is None else f"{verdict.ratio:.2f}"
        table.add_row(verdict.name, ratio, *floor, verdict.said)
    return table


def checked(how: How, floors: dict[str, Floor]) -> list[Verdict]:
    """The verdicts of a run, in which what fell is measured once more."""
    figures = list(how.figures(lambda _: True, to_stderr))
    fallen = {verdict.name for verdict in verdicts(figures, floors) if verdict.fell}
    if fallen:
        to_stderr(f"once more: {len(fallen)} that fell")
        figures += how.figures(lambda case: case.name in fallen, to_stderr)
    return verdicts(figures, floors)


def main(arguments: list[str]) -> int:
    """Check or write; 1 if something fell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--floors", type=Path, default=FLOORS)
    parser.add_argument("--write-floors", action="store_true", help="measure, and keep the ratios as floors")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1), help="of floors to write")
    parser.add_argument("--cpu", action="store_true", help="floors to write are of the processor's time")
    given = parser.parse_args(arguments)
    console, started = Console(width=150), perf_counter()
    if given.write_floors:
        groups = {name: share for name in GROUPS if (share := SHARES.get(name, SHARE))}
        how = How(groups, given.threads, repeat=5, cpu=given.cpu, patience=5.0)
        figures = list(how.figures(lambda _: True, to_stderr))
        write(given.floors, how, figures)
        console.print(shown([Verdict(figure.name, figure.ratio, Floor.of(figure)) for figure in figures]))
        failed = 0
    else:
        found = checked(*read(given.floors))
        console.print(shown(found))
        failed = sum(verdict.fails for verdict in found)
        console.print(f"{failed} of {len(found)} fell or are missing" if failed else f"all {len(found)} hold")
    console.print(f"in {(perf_counter() - started) / 60:.1f} minutes")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
