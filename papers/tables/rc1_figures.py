"""The convergence curves of rc1 (Figures 1 to 4) on MNIST.

The paper has 512 features of a ResNet18, which are not available; here they are principal components of the pixels, of
a stratified 10,000 of the 70,000 rows, so that a figure takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from papers.protocols import WholeSet
from papers.table import Build, Column, Table
from papers.tables.rc import MAP_MOMENTS, MAP_TABLES, bins, categorical, lr, qda
from papers.tables.rc1 import from_random, least, random_gd, random_rc, start
from suffice.learners import GradientDescent, RiskCalibration
from suffice.model_selection.measures import Dataset

ROWS = 10_000
Prepare = Callable[[Dataset], Dataset]


def components(n: int) -> Prepare:
    """The first principal components of some of the images."""

    def prepare(data: Dataset) -> Dataset:
        rows, _ = train_test_split(np.arange(len(data.y)), train_size=ROWS, stratify=data.y, random_state=0)
        data = data.rows(np.sort(rows))
        X = PCA(n, svd_solver="covariance_eigh").fit_transform(data.X / 255.0)
        return replace(data, X=X, names=tuple(f"c{j}" for j in range(n)), categorical=np.zeros(n, dtype=bool))

    return prepare


def binned_components(n: int) -> Prepare:
    """The same in 5 bins each: once for all methods, as it takes as long as learning does."""

    def prepare(data: Dataset) -> Dataset:
        reduced = components(n)(data)
        return replace(reduced, X=bins().fit_transform(reduced.X))

    return prepare


def rc(passes: int) -> RiskCalibration:
    """Calibration for some iterations."""
    return RiskCalibration(rate=0.1, max_iter=passes, stop="best-error", anchor=0.0)


def gd(passes: int) -> GradientDescent:
    """Gradient descent for some iterations."""
    return GradientDescent(rate=0.1, max_iter=passes, stop="best-error")


def figure(
    number: int, what: str, methods: Mapping[str, Build], prepare: Callable[[Dataset], Dataset], n: int
) -> Table:
    """A figure of rc1: the error by iteration of some learners; its columns are the first and the least error."""
    columns: list[Column] = []
    for method in methods:
        columns += [start(method, f"{method}_first"), least(method, "{}_least")]
    notes = f"{n} principal components of {ROWS:,} images in the place of the paper's features; it prints no numbers."
    title = f"rc1, Figure {number}: training error by iteration, {what}"
    return Table(f"rc1-figure{number}", title, {"mnist": "mnist"}, methods, WholeSet(), columns, prepare, notes=notes)


pca512, pca256, binned = components(512), components(256), binned_components(512)

TABLES = (
    figure(
        1,
        "naive Bayes",
        {"rc_ml": categorical(rc(128)), "rc_map": categorical(rc(128), **MAP_TABLES), "gd": categorical(gd(128))},
        binned,
        512,
    ),
    replace(
        figure(
            2,
            "QDA",
            {"rc_ml": qda(rc(32)), "rc_map": qda(rc(32), **MAP_MOMENTS), "gd": qda(gd(32))},
            pca256,
            256,
        ),
        notes=f"256 principal components of {ROWS:,} images and 32 iterations in the place of the print's 512 features "
        "and 128: with 512 the covariance of a class is singular. The print has no numbers.",
    ),
    figure(
        3,
        "logistic regression",
        {"rc_ml": lr(rc(128)), "rc_map": lr(rc(128), **MAP_MOMENTS), "gd": lr(gd(128))},
        pca512,
        512,
    ),
    figure(
        4,
        "logistic regression from a random start",
        {
            "rc": from_random(lambda seed: random_rc(seed, 128)),
            "gd": from_random(lambda seed: random_gd(seed, 128)),
        },
        pca512,
        512,
    ),
)
