"""Calibrate classifiers; learn from three sites without moving a row, and forget one patient."""

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import suffice
from suffice.learners import ClosedForm, RiskCalibration

console = Console()
X, y = load_breast_cancer(return_X_y=True)
train, test, labels, truth = train_test_split(X, y, stratify=y, random_state=0)

console.print(f"[bold]suffice {suffice.__version__}[/]: breast cancer, {len(train)} training rows\n")

table = Table("classifier", "learner", "passes", "test error", "log loss")
for kind in (suffice.GaussianNB, suffice.LinearDiscriminantAnalysis, suffice.QuadraticDiscriminantAnalysis):
    for learner in (ClosedForm(), RiskCalibration()):
        model = kind(learner=learner).fit(train, labels)
        error, loss = 1 - model.score(test, truth), log_loss(truth, model.predict_proba(test))
        table.add_row(kind.__name__, type(learner).__name__, str(model.n_iter_), f"{error:.3f}", f"{loss:.3f}")
console.print(table)

sites = np.array_split(np.arange(len(train)), 3)
a, b, c = (suffice.QuadraticDiscriminantAnalysis().fit(train[rows], labels[rows]) for rows in sites)
together = a + b + c
at_once = suffice.QuadraticDiscriminantAnalysis().fit(train, labels)
gap = abs(together.predict_proba(test) - at_once.predict_proba(test)).max()
console.print(f"Three sites merged: [bold]{together.statistics_}[/]")
console.print(f"  largest difference in probability from a fit of all rows: {gap:.1e}")

together.forget(train[:1], labels[:1])
never = suffice.QuadraticDiscriminantAnalysis().fit(train[1:], labels[1:])
gap = abs(together.predict_proba(test) - never.predict_proba(test)).max()
console.print(f"One row forgotten: [bold]{together.statistics_}[/]")
console.print(f"  largest difference from never having seen it: {gap:.1e}")
