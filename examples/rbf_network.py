"""A radial basis network: linear discriminant analysis over Gaussian columns, and its layer shared between sites."""

from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from suffice import GaussianPrior, LinearDiscriminantAnalysis
from suffice.features import RBF

console = Console()
X, y = load_breast_cancer(return_X_y=True)
train, test, labels, truth = train_test_split(X, y, stratify=y, random_state=0)

network = Pipeline(
    [
        ("scale", MinMaxScaler((-1, 1))),
        ("rbf", RBF(random_state=0)),
        ("clf", LinearDiscriminantAnalysis(prior=GaussianPrior())),
    ]
)
grid = {"rbf__n_centers": [5, 10, 20, 40, 80], "clf__prior__cov_weight": [0.1, 10]}
with console.status("Choosing the number of centres by cross-validation"):
    search = GridSearchCV(network, grid, cv=5).fit(train, labels)

table = Table("centres", "prior rows", "cross-validated error")
for setting, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    mark = "[bold]" if setting == search.best_params_ else ""
    table.add_row(*(f"{mark}{value}" for value in (*reversed(setting.values()), f"{1 - score:.3f}")))
console.print(table)
alone = LinearDiscriminantAnalysis().fit(train, labels)
errors = 1 - search.score(test, truth), 1 - alone.score(test, truth)
console.print("Test error of the best: [bold]{:.3f}[/]; of the discriminant without a layer: {:.3f}\n".format(*errors))

scale, learned, _ = search.best_estimator_
layer = RBF(centers=learned.centers_, sigma=learned.sigma_)
halves = (slice(None, None, 2), slice(1, None, 2))
here, there = (
    LinearDiscriminantAnalysis().fit(layer.fit_transform(scale.transform(train[rows])), labels[rows]) for rows in halves
)
columns = learned.transform(scale.transform(test))
whole = LinearDiscriminantAnalysis().fit(learned.transform(scale.transform(train)), labels)
gap = abs((here + there).predict_proba(columns) - whole.predict_proba(columns)).max()
console.print("With the layer fixed, two halves of the rows are learned separately and merged:")
console.print(f"  largest difference in probability from learning them together: {gap:.1e}")
