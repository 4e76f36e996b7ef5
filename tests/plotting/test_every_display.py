"""All displays: every picture fits its figure, wide and on a phone, and bad input is refused with a reason."""

from __future__ import annotations

import runpy
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

import suffice._runtime.system
from suffice import (
    GaussianNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    TreeAugmentedNB,
)
from suffice.learners import RiskCalibration
from suffice.plotting import (
    BoundaryDisplay,
    CalibrationDisplay,
    ContributionsDisplay,
    HistoryDisplay,
    NetworkDisplay,
    ShapesDisplay,
    StructureDisplay,
)
from tests.plotting.fits import WINE, X, Y, bayes, newton, quadratic, tree

ALL = {
    "history": lambda **kw: HistoryDisplay.from_estimator(newton(), **kw),
    "calibration": lambda **kw: CalibrationDisplay.from_estimator(bayes(), X, Y, **kw),
    "row": lambda **kw: ContributionsDisplay.from_estimator(bayes(), X, row=0, **kw),
    "row of three": lambda **kw: ContributionsDisplay.from_estimator(quadratic(), WINE.data, row=100, **kw),
    "rows": lambda **kw: ContributionsDisplay.from_estimator(quadratic(), WINE.data, **kw),
    "boundary": lambda **kw: BoundaryDisplay.from_estimator(bayes(), X, Y, grid_resolution=9, **kw),
    "boundaries": lambda **kw: BoundaryDisplay.from_estimator(
        quadratic(), WINE.data, WINE.target, grid_resolution=9, **kw
    ),
    "correlations": lambda **kw: StructureDisplay.from_estimator(quadratic(), **kw),
    "information": lambda **kw: StructureDisplay.from_estimator(bayes(), **kw),
    "network": lambda **kw: NetworkDisplay.from_estimator(tree(), **kw),
    "shapes": lambda **kw: ShapesDisplay.from_estimator(bayes(), X, terms=["worst area"], **kw),
}


@pytest.mark.parametrize("width", [7.4, 3.9])
@pytest.mark.parametrize("which", ALL)
def test_nothing_is_cut_off(which, width):
    figure = ALL[which](width=width).figure_
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= figure.get_figwidth() + 0.02
    assert box.y1 <= figure.get_figheight() + 0.02
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.get_yticklabels() if text.get_text()]
    boxes = sorted(boxes, key=lambda one: one.y0)
    assert all(low.y1 <= high.y0 + 2 for low, high in pairwise(boxes))  # names do not overlap


@pytest.mark.parametrize("which", ALL)
def test_displays_draw_into_axes_and_are_shown_by_notebooks(which):
    axes = Figure(layout="constrained").add_subplot()
    shown = ALL[which](ax=axes)
    assert shown.ax_ is axes
    assert shown.figure_ is axes.figure
    assert shown._repr_png_() is None  # the figure belongs to the caller
    assert ALL[which]()._repr_png_().startswith(b"\x89PNG")
    assert shown.plot(Figure().add_subplot(), **({"terms": ["worst area"]} if which == "shapes" else {})) is shown


@pytest.mark.parametrize("which", ALL)
def test_dollars_in_names_are_not_mathematics(which, tmp_path):
    frame = WINE.data.rename(columns=lambda name: f"${name}_$")
    y = np.array(["$^a", "b$"])[(WINE.target > 0).astype(int)]
    tables, model = NaiveBayes().fit(frame, y), QuadraticDiscriminantAnalysis(learner=RiskCalibration()).fit(frame, y)
    draw = {
        "history": lambda: HistoryDisplay.from_estimator(model),
        "calibration": lambda: CalibrationDisplay.from_estimator(model, frame, y, name="$_"),
        "row": lambda: ContributionsDisplay.from_estimator(model, frame, row=0),
        "rows": lambda: ContributionsDisplay.from_estimator(model, frame),
        "boundary": lambda: BoundaryDisplay.from_estimator(model, frame, y, grid_resolution=9),
        "correlations": lambda: StructureDisplay.from_estimator(model, y="$^a"),
        "information": lambda: StructureDisplay.from_estimator(tables),
        "network": lambda: NetworkDisplay.from_estimator(TreeAugmentedNB().fit(frame, y)),
        "shapes": lambda: ShapesDisplay.from_estimator(tables, frame, terms=1),
    }
    if which in draw:
        draw[which]().figure_.savefig(tmp_path / "dollars.png")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    def absent(module):
        raise ModuleNotFoundError(module)

    monkeypatch.setattr(suffice._runtime.system, "import_module", absent)
    for draw in ALL.values():
        with pytest.raises(
            ImportError, match=r'this needs matplotlib: pip install ".\[plot\]" in the folder of suffice'
        ):
            draw()


FEW = X[:5]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: HistoryDisplay.from_estimator(bayes()),
            "this NaiveBayes has no history, as it did not learn step by step",
        ),
        (
            lambda: HistoryDisplay.from_estimator(newton(), measure="loss"),
            "measure must be one of .*log_loss.*got 'loss'",
        ),
        (lambda: HistoryDisplay.from_estimator(GaussianNB), "takes a fitted estimator, got the class GaussianNB"),
        (lambda: HistoryDisplay.from_estimator(3), "takes a fitted estimator, got a int"),
        (lambda: HistoryDisplay.from_estimator(newton(), ax=3), "ax must be matplotlib axes or None, got a int"),
        (lambda: HistoryDisplay.from_estimator(newton(), width=0), "width must be a positive number, got 0"),
        (lambda: CalibrationDisplay.from_estimator(RidgeClassifier().fit(FEW, Y[17:22]), FEW, Y[:5]), "predict_proba"),
        (lambda: CalibrationDisplay.from_estimator(bayes(), X, Y, n_bins=0), "n_bins must be a whole number"),
        (lambda: CalibrationDisplay.from_estimator(bayes(), X, Y, strategy="mdl"), "strategy must be one of"),
        (lambda: CalibrationDisplay.from_estimator(bayes(), X, Y, confidence=1), "confidence must be a number between"),
        (
            lambda: CalibrationDisplay.from_estimator(bayes(), X, Y, pos_label="ill"),
            r"one of \['benign', 'malignant'\], got",
        ),
        (lambda: CalibrationDisplay.from_estimator(bayes(), X, Y[:-1]), "inconsistent numbers of samples"),
        (lambda: CalibrationDisplay.from_predictions([0, 1], [0.5, 1.5]), "from 0 to 1, got 0.5 to 1.5"),
        (lambda: CalibrationDisplay.from_predictions([0, 1], [0.5, np.nan]), "from 0 to 1, got nan"),
        (lambda: CalibrationDisplay.from_predictions([0, 1, 2], [0.5, 0.5, 0.5]), r"3 classes, \[0, 1, 2\], but prob"),
        (
            lambda: CalibrationDisplay.from_predictions([0, 1], [[0.5, 0.5], [0.9, 0.6]]),
            "must sum to 1, those of row 1 sum to 1.5",
        ),
        (
            lambda: HistoryDisplay.from_estimator(DecisionTreeClassifier().fit(X, Y)),
            "take a classifier of suffice, such as GaussianNB",
        ),
        (lambda: CalibrationDisplay.from_predictions([], []), "at least one row, got none"),
        (
            lambda: ContributionsDisplay.from_estimator(DecisionTreeClassifier().fit(X, Y), X),
            "DecisionTreeClassifier does not say what each column adds: take a classifier that",
        ),
        (
            lambda: ContributionsDisplay.from_estimator(bayes(), X, row=569),
            "row must be a whole number below 569, got 569",
        ),
        (lambda: ContributionsDisplay.from_estimator(bayes(), X, "ill", row=0), "y must be one of .*got 'ill'"),
        (
            lambda: ContributionsDisplay.from_estimator(bayes(), X, "benign"),
            "which class a row speaks for, and there are 569",
        ),
        (lambda: ContributionsDisplay.from_estimator(bayes(), X, max_terms=0), "max_terms must be a whole number"),
        (lambda: ContributionsDisplay.from_estimator(bayes(), X["mean area"]), "an array of two dimensions"),
        (lambda: ShapesDisplay.from_estimator(bayes()), "give X, rows whose values are looked at"),
        (
            lambda: ShapesDisplay.from_estimator(quadratic(), WINE.data),
            "depends on other columns too.*see BoundaryDisplay",
        ),
        (
            lambda: ShapesDisplay.from_estimator(bayes(), X, terms=["size"]),
            r"terms has \['size'\], but the columns are",
        ),
        (lambda: ShapesDisplay.from_estimator(DecisionTreeClassifier().fit(X, Y), X), "take AdditiveTables, naive"),
        (lambda: BoundaryDisplay.from_estimator(LinearRegression().fit(X, X), X), "takes a classifier, got a Linear"),
        (
            lambda: BoundaryDisplay.from_estimator(bayes(), X, columns=("size", 0)),
            "there is no column 'size': the columns",
        ),
        (lambda: BoundaryDisplay.from_estimator(bayes(), X, columns=(0, 0)), "two different columns"),
        (lambda: BoundaryDisplay.from_estimator(bayes(), X, columns="mean area"), "two columns, by name or number"),
        (lambda: BoundaryDisplay.from_estimator(bayes(), X, Y[:3]), "569 rows and 3 labels"),
        (lambda: BoundaryDisplay.from_estimator(bayes(), X[:0]), "needs at least one row, got none"),
        (
            lambda: BoundaryDisplay.from_estimator(bayes(), X, grid_resolution=0),
            "grid_resolution must be a whole number",
        ),
        (
            lambda: BoundaryDisplay.from_estimator(GaussianNB().fit(X[["mean area"]], Y), X[["mean area"]]),
            "shows two columns, and there is 1",
        ),
        (
            lambda: StructureDisplay.from_estimator(newton()),
            "LogisticRegression has neither whole covariances nor tables",
        ),
        (lambda: NetworkDisplay.from_estimator(bayes()), "NaiveBayes has no graph of columns"),
        (lambda: StructureDisplay.from_estimator(quadratic(), y=7), r"y must be one of \[0, 1, 2\], got 7"),
        (
            lambda: StructureDisplay.from_estimator(bayes(), y="benign"),
            "y is for correlations, and NaiveBayes has tables",
        ),
    ],
)
def test_what_is_wrong_with_the_input(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_what_is_not_fitted_is_not_drawn():
    for display in (HistoryDisplay, StructureDisplay, ShapesDisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(NaiveBayes())


@pytest.mark.thorough
def test_the_example_draws_every_display(tmp_path, monkeypatch, capsys):
    script = Path(__file__).parents[2] / "examples" / "displays.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script))
    said = capsys.readouterr().out
    for display in suffice.plotting.__all__:
        assert display in said
    assert all(path.read_text(encoding="utf-8").rstrip().endswith("</svg>") for path in tmp_path.glob("*.svg"))
    assert len(list(tmp_path.glob("*.svg"))) == 11
