"""Every display on real rows, a line each: python examples/displays.py [folder, ./figures]."""

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from suffice import AdditiveTables, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.learners import RiskCalibration
from suffice.plotting import (
    BoundaryDisplay,
    CalibrationDisplay,
    ContributionsDisplay,
    HistoryDisplay,
    ShapesDisplay,
    StructureDisplay,
)

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "figures")
folder.mkdir(parents=True, exist_ok=True)

cancer, wine, iris = (load(as_frame=True) for load in (load_breast_cancer, load_wine, load_iris))
labels = cancer.target_names[cancer.target]
X, test, y, truth = train_test_split(cancer.data, labels, stratify=labels, random_state=0)
closed = QuadraticDiscriminantAnalysis().fit(X, y)
calibrated = QuadraticDiscriminantAnalysis(learner=RiskCalibration()).fit(X, y)
readable = AdditiveTables(pairs=1).fit(X, y)
forest = RandomForestClassifier(random_state=0).fit(X, y)  # displays of probabilities and borders take any classifier

beside = CalibrationDisplay.from_estimator(closed, test, truth, n_bins=5, name="closed form")
shown = {
    "history": HistoryDisplay.from_estimator(calibrated),
    "calibration": CalibrationDisplay.from_estimator(
        calibrated, test, truth, n_bins=5, name="calibrated", ax=beside.ax_
    ),
    "one_row": ContributionsDisplay.from_estimator(readable, test, row=0),
    "many_rows": ContributionsDisplay.from_estimator(readable, test),
    "shapes": ShapesDisplay.from_estimator(readable, terms=3),
    "shapes_of_naive_bayes": ShapesDisplay.from_estimator(NaiveBayes().fit(wine.data, wine.target), wine.data, terms=3),
    "border": BoundaryDisplay.from_estimator(forest, test, truth, columns=("worst area", "worst concave points")),
    "borders_of_three": BoundaryDisplay.from_estimator(
        QuadraticDiscriminantAnalysis().fit(wine.data, wine.target), wine.data, wine.target
    ),
    "correlations": StructureDisplay.from_estimator(QuadraticDiscriminantAnalysis().fit(iris.data, iris.target), y=0),
    "information": StructureDisplay.from_estimator(NaiveBayes().fit(X, y)),
}
for name, display in shown.items():
    display.figure_.savefig(folder / f"{name}.svg")
    print(f"{folder / name}.svg: {type(display).__name__}")
