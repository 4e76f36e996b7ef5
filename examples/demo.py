"""Learn from three sites without moving a row, take one patient back, and compare with learning everything at once."""

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import suffice

console = Console()
X, y = load_breast_cancer(return_X_y=True)
train, test, labels, truth = train_test_split(X, y, stratify=y, random_state=0)

console.print(f"[bold]suffice {suffice.__version__}[/]: breast cancer, {len(train)} rows to learn from\n")

table = Table("classifier", "test error", "log loss", title="Closed form: one read of the data")
for model in (
    suffice.GaussianNB(),
    suffice.LogisticRegression(),
    suffice.LinearDiscriminantAnalysis(),
    suffice.QuadraticDiscriminantAnalysis(),
):
    model.fit(train, labels)
    table.add_row(
        type(model).__name__,
        f"{1 - model.score(test, truth):.3f}",
        f"{log_loss(truth, model.predict_proba(test)):.3f}",
    )
console.print(table)

sites = np.array_split(np.arange(len(train)), 3)
a, b, c = (suffice.QuadraticDiscriminantAnalysis().fit(train[rows], labels[rows]) for rows in sites)
together = a + b + c
at_once = suffice.QuadraticDiscriminantAnalysis().fit(train, labels)
gap = abs(together.predict_proba(test) - at_once.predict_proba(test)).max()
console.print(f"Three sites added up: [bold]{together.statistics_}[/]")
console.print(f"  largest difference in probability from learning all rows at once: {gap:.1e}")

together.forget(train[:1], labels[:1])
never = suffice.QuadraticDiscriminantAnalysis().fit(train[1:], labels[1:])
gap = abs(together.predict_proba(test) - never.predict_proba(test)).max()
console.print(f"One row forgotten: [bold]{together.statistics_}[/]")
console.print(f"  largest difference from never having seen it: {gap:.1e}")
