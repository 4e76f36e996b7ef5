"""All figures of the tangent discriminants on synthetic classes: python examples/figures.py [folder, ./figures]."""

import sys
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

from suffice import (
    FisherDiscriminant,
    LinearBayes,
    MinimaxProbabilityMachine,
    NoTangentPlaneWarning,
    QuasiBayes,
    ScatterDiscriminant,
)
from suffice.plotting import (
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

RUNS = 10  # random pairs of normal classes for each number of features
MEANS = np.array([[0.0, 0.0], [4.0, 2.5]])
COVARIANCES = np.array([[[2.0, 0.9], [0.9, 0.8]], [[0.9, -0.8], [-0.8, 2.4]]])
PARALLELOGRAMS = [
    (np.array([[2.0, 0.6], [0.0, 1.0]]), np.array([0.0, 0.0])),
    (np.array([[0.7, -0.6], [0.2, 2.0]]), np.array([2.0, 1.2])),
]
KINDS = [FisherDiscriminant(), ScatterDiscriminant(), MinimaxProbabilityMachine(), QuasiBayes(), LinearBayes()]

console = Console()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "figures")
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(2019)
warnings.simplefilter("ignore", NoTangentPlaneWarning)


def normal_rows(n):
    """Rows of the two normal classes above."""
    rows = [rng.multivariate_normal(mean, cov, n) for mean, cov in zip(MEANS, COVARIANCES, strict=True)]
    return np.concatenate(rows), np.repeat([1, 2], n)


def uniform_rows(n):
    """Rows that fill two parallelograms which overlap."""
    return [rng.uniform(-1, 1, (n, 2)) @ sides + centre for sides, centre in PARALLELOGRAMS]


def uniform_ratio(rows):
    """log f2(x) - log f1(x) of the parallelograms: a density is 1 / area within one, and next to nothing outside."""
    within = [(abs((rows - centre) @ np.linalg.inv(sides)) <= 1).all(axis=1) for sides, centre in PARALLELOGRAMS]
    areas = [4 * abs(np.linalg.det(sides)) for sides, _ in PARALLELOGRAMS]
    one, two = (np.where(inside, -np.log(area), -1e9) for inside, area in zip(within, areas, strict=True))
    return two - one


def random_classes(d):
    """Means in [-1, 1], covariances CC' with C in [-2, 2], as the thesis draws them."""
    C = rng.uniform(-2, 2, (2, d, d))
    return Gaussians(rng.uniform(-1, 1, (2, d)), C @ C.swapaxes(1, 2), n_rows=20_000)


def drawn(name):
    """Where to write a figure, which is announced."""
    console.print(f"  {name}.png")
    return folder / f"{name}.png"


console.print(f"Writing to {folder}:")
X, y = normal_rows(400)
fisher, _, minimax, quasi, bayes = (type(kind)(class_prior=[0.6, 0.4]).fit(X, y) for kind in KINDS)

plot_classes([fisher, minimax], path=drawn("classes"))
plot_classes(quasi, X, y, path=drawn("quasi_bayes"))

panels = Figure(figsize=(13, 4.2), layout="constrained")
left, right = panels.subplots(1, 2)
plot_projection(bayes, X, y, ax=left)
plot_projection({"Only the first feature": FisherDiscriminant(class_prior=[0.6, 0.4]).fit(X[:, :1], y)}, ax=right)
panels.savefig(drawn("projection"), dpi=150)

plot_error_by_s([bayes, fisher], path=drawn("error_by_s"))
plot_bound(distances=[1.0, 3**0.5, 3.0], path=drawn("bound"))
plot_bound(fisher, path=drawn("bound_of_fisher"))

near = rows_with_moments(MEANS / 2, COVARIANCES)
level, fixed = MinimaxProbabilityMachine().fit(*near), FisherDiscriminant().fit(*near)
plot_minimax([level, fixed], at=[0.2], path=drawn("minimax"))

one, two = uniform_rows(40_000)
uniform = Samples(one, two, uniform_ratio)
some = np.concatenate([one[:400], two[:400]]), np.repeat([0, 1], 400)
learned = [type(kind)(class_prior=[0.6, 0.4]).fit(*uniform.training()) for kind in KINDS]
panels = Figure(figsize=(13, 4.6), layout="constrained")
left, right = panels.subplots(1, 2)
plot_classes(learned, *some, levels=[1, 2], ax=left)
plot_accuracy_by_prior(accuracy_by_prior(KINDS, uniform), title="Two uniform classes", ax=right)
panels.savefig(drawn("uniform"), dpi=150)

panels = Figure(figsize=(10, 7.5), layout="constrained")
for d, axes in zip((5, 10, 20, 50), panels.subplots(2, 2).ravel(), strict=True):
    with console.status(f"{RUNS} pairs of normal classes of {d} features"):
        sweeps = [accuracy_by_prior(KINDS, random_classes(d), np.linspace(0.05, 0.95, 19)) for _ in range(RUNS)]
    plot_accuracy_by_prior(PriorSweep.average(sweeps), title=f"Normal classes of {d} features", ax=axes)
    axes.get_legend().remove()
panels.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
panels.savefig(drawn("normal"), dpi=150)

plot_learning_rate(path=drawn("learning_rate"))
