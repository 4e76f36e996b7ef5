"""The thesis on disjoint tangent configurations: what is simulated, what learning costs, and the summary."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import suffice
from papers import Array
from papers.derived import Cells, Computed, Derived, outcome
from papers.figures import rows_with_moments
from papers.reasons import Case, Checked, Evidence
from papers.store import Task
from papers.table import Column, Rows, rows_of
from papers.tables import dtc, dtc_networks
from suffice.compare import average_ranks
from suffice.model_selection.measures import Result

RULES: Mapping[str, Any] = {name: kind(ridge=0.0) for name, kind in dtc.DISCRIMINANTS.items()}
PRIORS = np.linspace(0.05, 0.95, 19)  # of the first class


def plane(rule: Any, rows: tuple[Array, Array], prior: float = 0.5) -> Any:
    """A discriminant of two classes, known by rows of their means and covariances, at a prior of the first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffice.NoTangentPlaneWarning)  # far priors leave none between the means
        return clone(rule).set_params(class_prior=[prior, 1 - prior]).fit(*rows)


def known(mean: Array, root: Array) -> tuple[Array, Array]:
    """Rows of two classes with given means (2, d) and covariances R R', of roots R (2, d, d)."""
    return rows_with_moments(mean, root @ root.swapaxes(1, 2))


def curves(accuracy: Mapping[str, Array]) -> Result:
    """Accuracies in percent by prior, as a result."""
    return {"curves": {"P1": PRIORS.round(6).tolist(), **{k: (100 * v).round(4).tolist() for k, v in accuracy.items()}}}


def cut(ratio: Sequence[Array]) -> Array:
    """The accuracy at every prior of the rule that compares log-ratios, of rows of either class, with the priors'."""
    at = np.log(PRIORS) - np.log(1 - PRIORS)
    share = [np.searchsorted(np.sort(rows), at, side="right") / len(rows) for rows in ratio]
    return np.asarray(PRIORS * share[0] + (1 - PRIORS) * (1 - share[1]))


def log_ratio(X: Array, mean: Array, root: Array) -> Array:
    """How much more probable rows are in the second than in the first of two normal classes, with S = R R': (n,)."""
    each = [np.linalg.solve(r, (X - m).T) for m, r in zip(mean, root, strict=True)]  # (d, n) standard normal
    sizes = np.linalg.slogdet(root).logabsdet
    first, second = (-0.5 * (z**2).sum(axis=0) - size for z, size in zip(each, sizes, strict=True))
    return np.asarray(second - first)


# Figure 4.1

CORNERS = np.array([[[-2.0, -0.5], [2.0, 0.5]], [[0.5, -1.0], [2.5, 2.0]]])  # of two rectangles that overlap
TILT = 0.4  # radians by which both are turned
SAMPLES = 200_000


def uniform(number: int) -> Result:
    """Two uniform classes in the plane: the accuracy at every prior, on rows of either class."""
    turn = np.array([[np.cos(TILT), np.sin(TILT)], [-np.sin(TILT), np.cos(TILT)]])
    mean = CORNERS.mean(axis=1) @ turn
    deviation = (CORNERS[:, 1] - CORNERS[:, 0]) / np.sqrt(12)
    root = turn.T * deviation[:, None, :]
    rng = np.random.default_rng(number)
    flat = [rng.uniform(low, high, (SAMPLES, 2)) for low, high in CORNERS]
    X, classes = [rows @ turn for rows in flat], known(mean, root)
    accuracy = {
        name: np.array([[p, 1 - p] @ _right(plane(rule, classes, p), X) for p in PRIORS])
        for name, rule in RULES.items()
    }
    accuracy["quadratic"] = cut([log_ratio(rows, mean, root) for rows in X])
    accuracy["Bayes"] = _overlapping()
    return curves(accuracy)


def _right(fitted: Any, X: Sequence[Array]) -> Array:
    """The share of the rows of either class that are on its side of a plane (2,)."""
    sides = (side * (rows @ fitted.coef_[0] + fitted.intercept_[0]) for rows, side in zip(X, (-1, 1), strict=True))
    return np.array([np.mean(side > 0) for side in sides])


def _overlapping() -> Array:
    """The best possible accuracy: where both rectangles are, the class of the greater density wins."""
    both = np.prod(np.minimum(*CORNERS[:, 1]) - np.maximum(*CORNERS[:, 0]))
    share = both / np.prod(CORNERS[:, 1] - CORNERS[:, 0], axis=1)
    lost = np.minimum(PRIORS * share[0], (1 - PRIORS) * share[1])
    return np.asarray(1 - lost)


# Figure 4.2

RUNS = 10  # of every repeat
ROWS = 20_000  # of either class, for the Bayes rule; the accuracy of a plane follows from its distances


def gaussian(d: int, number: int) -> Result:
    """Normal classes of random moments in d dimensions: mean accuracies over some runs at every prior."""
    rng = np.random.default_rng([d, number])
    each = [_gaussian(d, rng) for _ in range(RUNS)]
    return curves({name: np.mean([run[name] for run in each], axis=0) for name in each[0]})


def _gaussian(d: int, rng: np.random.Generator) -> dict[str, Array]:
    mean, root = rng.uniform(-1, 1, (2, d)), rng.uniform(-2, 2, (2, d, d))
    classes = known(mean, root)
    X = [m + rng.standard_normal((ROWS, d)) @ r.T for m, r in zip(mean, root, strict=True)]
    right = {
        name: np.array([plane(rule, classes, p).gaussian_accuracy_[0] for p in PRIORS]) for name, rule in RULES.items()
    }
    return {**right, "Bayes": cut([log_ratio(rows, mean, root) for rows in X])}


def level(name: str) -> Column:
    """The mean accuracy over the priors."""
    return Column(name, lambda rows: _averaged(rows, lambda curve: np.mean(curve[name])), 2)


def gap(name: str) -> Column:
    """By how many points a rule is below Bayes', on average over the priors."""
    return Column(f"{name} gap", lambda rows: _averaged(rows, lambda curve: np.mean(curve["Bayes"] - curve[name])), 2)


def span(name: str) -> Column:
    """By how many points the accuracy of a rule changes with the prior."""
    return Column(f"{name} range", lambda rows: _averaged(rows, lambda curve: np.ptp(curve[name])), 2)


def _averaged(rows: Rows, value: Callable[[dict[str, Array]], Any]) -> float | None:
    """A number of the curves that are the mean over the repeats."""
    found = [row["curves"] for row in rows.get("computed", ())]
    if not found:
        return None
    return float(value({name: np.mean([curve[name] for curve in found], axis=0) for name in found[0]}))


# Table A.1

BOUND = 0.75  # the accuracy that the moments guarantee
TOY = 100_000  # rows of either class
FREEDOM = 5.0  # of the t distribution


def toy(draw: Callable[[np.random.Generator], Array], number: int) -> Result:
    """Accuracy in percent of the minimax plane for classes of random moments, set apart by as much as the bound says.

    `draw` makes rows (n, 2) of mean 0 and covariance 1.
    """
    rng = np.random.default_rng(number)
    root = rng.uniform(-2, 2, (2, 2, 2))
    mean = np.stack([np.zeros(2), rng.uniform(-1, 1, 2)])
    minimax = RULES["MPDH-DTC"]
    mean = mean * np.sqrt(BOUND / (1 - BOUND)) / plane(minimax, known(mean, root)).distances_[0, 0]
    X = [m + draw(rng) @ r.T for m, r in zip(mean, root, strict=True)]
    first, second = (100 * float(share) for share in _right(plane(minimax, known(mean, root)), X))
    return {"total": (first + second) / 2, "C1": first, "C2": second}


def _normal(rng: np.random.Generator) -> Array:
    return rng.standard_normal((TOY, 2))


def _student(rng: np.random.Generator) -> Array:
    return np.asarray(_normal(rng) * np.sqrt((FREEDOM - 2) / rng.chisquare(FREEDOM, (TOY, 1))))


def _square(rng: np.random.Generator) -> Array:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), (TOY, 2))


def normal_share(case: Case) -> Evidence:
    """What it is by the normal distribution."""
    share = 100 * float(ndtr(np.sqrt(BOUND / (1 - BOUND))))
    return Evidence(abs(case.measured - share) < 0.3, f"{share:.2f}")


def among_angles(case: Case) -> Evidence | None:
    """Whether the print is among the repeats."""
    found = [row[case.column] for row in case.rows("computed")]
    slack = 0.5 * 10.0**-case.digits
    holds = bool(found) and min(found) - slack <= case.printed <= max(found) + slack
    return Evidence(holds, f"from {min(found):.1f} to {max(found):.1f}") if found else None


# Table 4.7

FEATURES = (50, 100, 200, 400, 800)
NODES = (25, 50, 100, 200, 400)
SAMPLED = (100, 200, 400, 800, 1600)


def solving(discriminant: Any, number: int) -> Result:
    """Seconds to solve from moments, by the number of features."""
    seconds = {}
    for d in FEATURES:
        X, y = _two(2 * d, d, number)
        summed = discriminant().partial_fit(X, y)
        seconds[str(d)] = _least(partial(_solved, summed))
    return {"seconds": seconds}


def _solved(summed: Any) -> Any:
    return copy.copy(summed).parameters_  # of a copy, for they are kept


def fitting(build: Callable[[int], Any], sizes: Sequence[int], n: int | None, number: int) -> Result:
    """Seconds to fit to n rows of 10 features, by a size; the number of rows is the size itself if none is given."""
    seconds = {}
    for size in sizes:
        X, y = _two(n or size, 10, number)
        seconds[str(size)] = _least(partial(build(size).fit, X, y))
    return {"seconds": seconds}


def _two(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Two normal classes of n rows in all."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) * (1 + y[:, None]) + y[:, None], y


def _least(work: Callable[[], Any], tries: int = 2) -> float:
    """The least seconds of some tries: whatever else the machine does only adds to them."""
    found = []
    for _ in range(tries):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def exponent(name: str, last: int | None = None) -> Column:
    """The slope of log seconds against log size, over all sizes or the last ones."""

    def value(rows: Rows) -> float | None:
        at = _seconds(rows)
        sizes = sorted(at)[-last:] if last else sorted(at)
        return float(np.polyfit(np.log(sizes), np.log([at[size] for size in sizes]), 1)[0]) if at else None

    return Column(name, value, 2, 0.3)


def _seconds(rows: Rows) -> dict[int, float]:
    """The least seconds over the repeats by size."""
    found = [row.get("seconds", {}) for row in rows.get("computed", ())]
    sizes = {key for row in found for key in row if key.isdigit()}
    return {int(size): min(row[size] for row in found) for size in sizes}


def network(discriminant: Any, nodes: int) -> Any:
    """A radial basis network with the given number of nodes."""
    return make_pipeline(dtc_networks.hidden(nodes, 0), discriminant())


COSTS: dict[str, Callable[[int], Result]] = {
    "MPM": partial(solving, suffice.MinimaxProbabilityMachine),
    "All DTCs": partial(solving, suffice.QuasiBayes),
    "Bayes": partial(solving, suffice.LinearBayes),
    "Gaussian-Kernel-MPM": partial(fitting, lambda _: suffice.KernelMPM(), SAMPLED, None),
    "RBF-MPM": partial(fitting, partial(network, suffice.MinimaxProbabilityMachine), NODES, 2000),
    "RBF-All DTCs": partial(fitting, partial(network, suffice.QuasiBayes), NODES, 2000),
    "RBF-Linear-Bayes": partial(fitting, partial(network, suffice.LinearBayes), NODES, 2000),
}


# Table 4.8


def summary(results: Mapping[Task, Result]) -> Cells:
    """Mean accuracy, rank and milliseconds of every method over the data sets, linear and not linear."""
    cells: Cells = {}
    linear = ("dtc-table4.2", dtc.SETS | dtc.DIGITS, dtc.COLUMNS, "fit")
    other = ("dtc-table4.5", dtc.SETS, dtc_networks.COLUMNS, "train")
    for table, names, columns, part in (linear, other):
        each = [rows_of(table, name, dict.fromkeys(columns.values()), results) for name in names]
        each = [rows for rows in each if all(rows.values())]  # data sets that every method has results of
        if not each:
            continue
        methods = list(dict.fromkeys(columns.values()))
        right = {m: [100 * (1 - np.mean([row["error"] for row in rows[m]])) for rows in each] for m in methods}
        ranks = average_ranks(right, higher_is_better=True) if len(each) > 1 else {}
        for column, method in columns.items():
            cells[column, "accuracy"] = float(np.mean(right[method]))
            if method in ranks:
                cells[column, "rank"] = ranks[method]
            times = [ms for ms in (dtc.milliseconds(rows, (method,), part) for rows in each) if ms is not None]
            if times:
                cells[column, "ms"] = float(np.mean(times))
    return cells


TABLES = (
    Computed(
        "dtc-figure4.1",
        "Thesis, Figure 4.1: accuracy against the prior, two uniform classes in the plane",
        {"uniform": uniform},
        [level("Bayes"), *map(gap, ["quadratic", *RULES]), *map(span, RULES)],
        notes="Percent and points. The thesis does not print its two distributions; here they are rectangles that "
        "overlap. Bayes is the best rule for these classes, quadratic the one for normal classes of their moments.",
    ),
    Computed(
        "dtc-figure4.2",
        "Thesis, Figure 4.2: accuracy against the prior, normal classes",
        {f"n = {d}": partial(gaussian, d) for d in (5, 10, 20, 50)},
        [level("Bayes"), *map(gap, RULES), *map(span, RULES)],
        repeats=10,
        notes="Percent and points; 100 pairs of random classes for every n. The range is that of the mean curve.",
    ),
    Computed(
        "dtc-table4.7",
        "Thesis, Table 4.7: exponents of the cost",
        COSTS,
        [exponent("exponent"), exponent("last exponent", 2)],
        repeats=3,
        notes="Slopes of log seconds against the log of the number of features n (linear, from moments), of rows N "
        "(kernel) and of nodes m (networks, whose centres cost only m). The thesis has 3 for all of them. The last "
        "exponent is that of the two largest sizes.",
    ),
    Derived(
        "dtc-table4.8",
        "Thesis, Table 4.8: summary of the main algorithms",
        ("dtc-table4.2", "dtc-table4.5"),
        summary,
        dtc.named(("accuracy", "rank", "ms"), 1, 0),
        notes="Means over the data sets; ranks within the linear methods and within the others. Times are those of "
        "Tables 4.3 and 4.6.",
    ),
    Computed(
        "dtc-tableA.1",
        "Thesis, Table A.1: accuracy where moments guarantee 75 %",
        {"Gaussian": partial(toy, _normal), "t": partial(toy, _student), "Uniform": partial(toy, _square)},
        [outcome("total", 2, 1.0), outcome("C1", 1, 1.0), outcome("C2", 1, 1.0)],
        repeats=20,
        reasons={
            ("Gaussian", "*"): Checked("for normal classes it is Phi(sqrt 3) whatever their moments", normal_share),
            ("Uniform", "*"): Checked(
                "it depends on the angle between the plane and the sides of the square, which the thesis does not say; "
                "here it is at random",
                among_angles,
            ),
        },
        notes="Percent. Classes in the plane with random moments, 100,000 rows of each; t with 5 degrees of freedom.",
    ),
)
