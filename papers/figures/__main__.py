"""Draw all figures on synthetic classes: python -m papers.figures [folder, ./figures]."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

from papers import Array
from papers.figures import (
    Gaussians,
    PriorSweep,
    Samples,
    accuracy_by_prior,
    plot_accuracy_by_prior,
    plot_bound,
    plot_classes,
    plot_error_by_s,
    plot_learning_rate,
    plot_minimax,
    plot_projection,
    rows_with_moments,
)
from suffice import (
    FisherDiscriminant,
    LinearBayes,
    MinimaxProbabilityMachine,
    NoTangentPlaneWarning,
    QuasiBayes,
    ScatterDiscriminant,
)

RUNS = 10  # random pairs of normal classes for each number of features
MEANS = np.array([[0.0, 0.0], [4.0, 2.5]])
COVARIANCES = np.array([[[2.0, 0.9], [0.9, 0.8]], [[0.9, -0.8], [-0.8, 2.4]]])
PARALLELOGRAMS = [
    (np.array([[2.0, 0.6], [0.0, 1.0]]), np.array([0.0, 0.0])),
    (np.array([[0.7, -0.6], [0.2, 2.0]]), np.array([2.0, 1.2])),
]
KINDS = [FisherDiscriminant(), ScatterDiscriminant(), MinimaxProbabilityMachine(), QuasiBayes(), LinearBayes()]

console = Console()
rng = np.random.default_rng(2019)


def normal_rows(n: int) -> tuple[Array, Array]:
    """Rows of the two normal classes above."""
    rows = [rng.multivariate_normal(mean, cov, n) for mean, cov in zip(MEANS, COVARIANCES, strict=True)]
    return np.concatenate(rows), np.repeat([1, 2], n)


def uniform_rows(n: int) -> list[Array]:
    """Rows that fill two overlapping parallelograms."""
    return [rng.uniform(-1, 1, (n, 2)) @ sides + centre for sides, centre in PARALLELOGRAMS]


def uniform_ratio(rows: Array) -> Array:
    """log f2(x) - log f1(x) of the parallelograms: a density is 1 / area inside, and close to 0 outside."""
    within = [(abs((rows - centre) @ np.linalg.inv(sides)) <= 1).all(axis=1) for sides, centre in PARALLELOGRAMS]
    areas = [4 * abs(np.linalg.det(sides)) for sides, _ in PARALLELOGRAMS]
    one, two = (np.where(inside, -np.log(area), -1e9) for inside, area in zip(within, areas, strict=True))
    return np.asarray(two - one)


def random_classes(d: int) -> Gaussians:
    """Means in [-1, 1], covariances CC' with C in [-2, 2], as in the thesis."""
    C = rng.uniform(-2, 2, (2, d, d))
    return Gaussians(rng.uniform(-1, 1, (2, d)), C @ C.swapaxes(1, 2), n_rows=20_000)


def draw_all(folder: Path) -> None:
    """Write every figure to a folder."""

    def file(name: str) -> Path:
        console.print(f"  {name}.png")
        return folder / f"{name}.png"

    folder.mkdir(parents=True, exist_ok=True)
    console.print(f"Writing to {folder}:")
    X, y = normal_rows(400)
    fisher, _, minimax, quasi, bayes = (type(kind)(class_prior=[0.6, 0.4]).fit(X, y) for kind in KINDS)

    plot_classes([fisher, minimax], path=file("classes"))
    plot_classes(quasi, X, y, path=file("quasi_bayes"))

    panels = Figure(figsize=(13, 4.2), layout="constrained")
    left, right = panels.subplots(1, 2)
    plot_projection(bayes, X, y, ax=left)
    plot_projection({"Only the first feature": FisherDiscriminant(class_prior=[0.6, 0.4]).fit(X[:, :1], y)}, ax=right)
    panels.savefig(file("projection"), dpi=150)

    plot_error_by_s([bayes, fisher], path=file("error_by_s"))
    plot_bound(distances=[1.0, 3**0.5, 3.0], path=file("bound"))
    plot_bound(fisher, path=file("bound_of_fisher"))

    near = rows_with_moments(MEANS / 2, COVARIANCES)
    level, fixed = MinimaxProbabilityMachine().fit(*near), FisherDiscriminant().fit(*near)
    plot_minimax([level, fixed], at=[0.2], path=file("minimax"))

    one, two = uniform_rows(40_000)
    uniform = Samples(one, two, uniform_ratio)
    some = np.concatenate([one[:400], two[:400]]), np.repeat([0, 1], 400)
    learned = [type(kind)(class_prior=[0.6, 0.4]).fit(*uniform.training()) for kind in KINDS]
    panels = Figure(figsize=(13, 4.6), layout="constrained")
    left, right = panels.subplots(1, 2)
    plot_classes(learned, *some, levels=[1, 2], ax=left)
    plot_accuracy_by_prior(accuracy_by_prior(KINDS, uniform), title="Two uniform classes", ax=right)
    panels.savefig(file("uniform"), dpi=150)

    panels = Figure(figsize=(10, 7.5), layout="constrained")
    for d, axes in zip((5, 10, 20, 50), panels.subplots(2, 2).ravel(), strict=True):
        with console.status(f"{RUNS} pairs of normal classes of {d} features"):
            sweeps = [accuracy_by_prior(KINDS, random_classes(d), np.linspace(0.05, 0.95, 19)) for _ in range(RUNS)]
        plot_accuracy_by_prior(PriorSweep.average(sweeps), title=f"Normal classes of {d} features", ax=axes)
        axes.get_legend().remove()
    panels.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    panels.savefig(file("normal"), dpi=150)

    plot_learning_rate(path=file("learning_rate"))


if __name__ == "__main__":
    warnings.simplefilter("ignore", NoTangentPlaneWarning)
    draw_all(Path(sys.argv[1] if len(sys.argv) > 1 else "figures"))
