"""Draw every display on real data, one line each: python examples/displays.py [folder, ./figures]."""

import sys
from pathlib import Path

import matplotlib
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict, train_test_split

from suffice import AdditiveTables, GaussianNB, NaiveBayes, QuadraticDiscriminantAnalysis, TreeAugmentedNB
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

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "figures")
folder.mkdir(parents=True, exist_ok=True)

cancer, wine, iris = (load(as_frame=True) for load in (load_breast_cancer, load_wine, load_iris))
labels = cancer.target_names[cancer.target]
X, test, y, truth = train_test_split(cancer.data, labels, stratify=labels, random_state=0)
calibrated = QuadraticDiscriminantAnalysis(learner=RiskCalibration()).fit(X, y)
readable = AdditiveTables(pairs=1).fit(X, y)
forest = RandomForestClassifier(random_state=0).fit(iris.data, iris.target_names[iris.target])  # any classifier works

kinds = {"naive Bayes": GaussianNB(), "calibrated": GaussianNB(learner=RiskCalibration())}
held_out = [cross_val_predict(kind, cancer.data, labels, method="predict_proba")[:, 1] for kind in kinds.values()]
first, second = kinds
beside = CalibrationDisplay.from_predictions(labels, held_out[0], n_bins=5, name=first)
shown = {
    "history": HistoryDisplay.from_estimator(calibrated),
    "calibration": CalibrationDisplay.from_predictions(labels, held_out[1], n_bins=5, name=second, ax=beside.ax_),
    "one_row": ContributionsDisplay.from_estimator(readable, test, row=0),
    "many_rows": ContributionsDisplay.from_estimator(readable, test),
    "shapes": ShapesDisplay.from_estimator(readable, terms=3),
    "shapes_of_naive_bayes": ShapesDisplay.from_estimator(NaiveBayes().fit(wine.data, wine.target), wine.data, terms=3),
    "border": BoundaryDisplay.from_estimator(calibrated, test, truth, columns=("worst area", "worst concave points")),
    "borders_of_three": BoundaryDisplay.from_estimator(
        forest, iris.data, iris.target_names[iris.target], columns=("petal length (cm)", "petal width (cm)")
    ),
    "correlations": StructureDisplay.from_estimator(QuadraticDiscriminantAnalysis().fit(iris.data, iris.target), y=0),
    "information": StructureDisplay.from_estimator(NaiveBayes().fit(X, y)),
    "network": NetworkDisplay.from_estimator(TreeAugmentedNB().fit(X, y), max_columns=12),
}
with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "suffice"}):  # small, and the same every time
    for name, display in shown.items():
        display.figure_.savefig(folder / f"{name}.svg", metadata={"Date": None}, dpi=60)
        print(f"{folder / name}.svg: {type(display).__name__}")
