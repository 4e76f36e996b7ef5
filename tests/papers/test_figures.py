"""The figures of the tangent discriminants show what was learned, and bad input is refused in a sentence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.stats import norm

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
    LinearDiscriminantAnalysis,
    MinimaxProbabilityMachine,
    MinimumErrorMPM,
    NoTangentPlaneWarning,
    QuadraticDiscriminantAnalysis,
    QuasiBayes,
    ScatterDiscriminant,
)
from suffice.features.centers import learning_rate
from suffice.learners import RiskCalibration
from tests.samples import IRIS, plain

MEANS = np.array([[100.0, 0.0], [103.0, 2.0]])
COVARIANCES = np.array([[[2.0, 0.9], [0.9, 0.8]], [[0.9, -0.8], [-0.8, 2.4]]])
MOMENTS = rows_with_moments(MEANS, COVARIANCES)
KINDS = [FisherDiscriminant, ScatterDiscriminant, MinimaxProbabilityMachine, MinimumErrorMPM, QuasiBayes, LinearBayes]
CLASSES = Gaussians(MEANS, COVARIANCES, n_rows=20_000)
THREE = IRIS[0][:, :2], np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]


def fitted(kind, prior=(0.6, 0.4), **settings):
    return kind(class_prior=list(prior), **settings).fit(*MOMENTS)


def lines(figure, ax=0):
    """What is drawn, by its label."""
    return {line.get_label(): line.get_xydata() for line in figure.axes[ax].lines}


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_rows_have_the_moments_asked_for():
    for d in (1, 2, 7):
        rng = np.random.default_rng(d)
        means, root = rng.normal(size=(3, d)), rng.normal(size=(3, d, d))
        root[1, :, 0] = 0  # one of them is singular
        X, y = rows_with_moments(means, root @ root.swapaxes(1, 2))
        assert X.shape == (6 * d, d)
        for c in range(3):
            assert_allclose(X[y == c].mean(axis=0), means[c], atol=1e-12)
            assert_allclose(np.cov(X[y == c].T, bias=True).reshape(d, d), root[c] @ root[c].T, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_passes_through_its_point_of_contact_and_touches_both_ellipses(kind, tmp_path):
    model = fitted(kind)
    figure = plot_classes(model, path=tmp_path / "classes.png")
    assert is_png(tmp_path / "classes.png")
    assert figure.canvas.manager is None  # pyplot does not know it
    name = figure.axes[0].get_legend().get_texts()[-1].get_text()
    ends, point = lines(figure)[name], model.tangent_point_[0]
    assert_allclose(model.decision_function(ends), 0, atol=1e-6)
    (a, b), out = ends - point, figure.axes[0].get_xlim() + figure.axes[0].get_ylim()
    assert abs(a[0] * b[1] - a[1] * b[0]) < 1e-9
    for x, y in ends:  # the line leaves the picture at both ends
        assert not (out[0] < x < out[1] and out[2] < y < out[3])
    touching = [line.get_xydata() for line in figure.axes[0].lines[-2:]]
    for points, mean, covariance, distance in zip(touching, MEANS, COVARIANCES, model.distances_[0], strict=True):
        gap = points - mean
        assert_allclose(np.einsum("ni,ij,nj->n", gap, np.linalg.inv(covariance), gap), distance**2, rtol=1e-3)
        odds = model.decision_function(points)
        assert abs(odds).min() < 1e-2 * abs(odds).max()
        assert odds.max() < 1e-6 or odds.min() > -1e-6


def test_the_curve_of_contacts_goes_from_mean_to_mean_through_all_points_of_contact():
    models = [fitted(kind) for kind in KINDS]
    curve = lines(plot_classes(models))["points of contact"]
    assert_allclose(curve[[0, -1]], MEANS, atol=1e-5)
    for model in models:
        assert np.linalg.norm(curve - model.tangent_point_[0], axis=1).min() < 0.05


def test_the_quadratic_border_crosses_the_curve_at_quasi_bayes():
    model = fitted(QuasiBayes)
    figure = plot_classes([fitted(FisherDiscriminant), model])
    border = np.concatenate([p.vertices for c in figure.axes[0].collections for p in c.get_paths()])
    quadratic = QuadraticDiscriminantAnalysis(prior=None, class_prior=[0.6, 0.4]).fit(*MOMENTS)
    assert abs(quadratic.decision_function(border)).max() < 0.02
    assert np.linalg.norm(border - model.tangent_point_[0], axis=1).min() < 0.05
    assert "quadratic Bayes" not in lines(plot_classes(fitted(FisherDiscriminant)))
    assert "quadratic Bayes" in lines(plot_classes(fitted(FisherDiscriminant), border=True))
    assert "quadratic Bayes" not in lines(plot_classes(model, border=False))


def test_rows_and_names_are_drawn(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 1500)
    frame = pd.DataFrame(rng.normal(size=(3000, 2)) + 2 * (y == "yes")[:, None], columns=["height", "weight"])
    model = {"ours": MinimaxProbabilityMachine().fit(frame, y)}
    figure = plot_classes(model, frame, y, path=tmp_path / "rows.svg")
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("height", "weight")
    assert [len(c.get_offsets()) for c in axes.collections] == [500, 500]
    assert {"class no", "class yes", "ours"} <= set(lines(figure))
    plot_projection(model, frame, y, path=tmp_path / "rows.png")


def test_two_of_three_classes():
    ovo, ovr = FisherDiscriminant().fit(*THREE), FisherDiscriminant(multi_class="ovr").fit(*THREE)
    some = np.isin(THREE[1], ["setosa", "virginica"])
    alone = FisherDiscriminant().fit(THREE[0][some], THREE[1][some])
    for pair in (("setosa", "virginica"), ["virginica", "setosa"]):
        drawn = lines(plot_classes(ovo, *THREE, pair=pair))
        assert_allclose(drawn["Fisher"].mean(axis=0), alone.tangent_point_[0])
    drawn = lines(plot_classes(ovr, *THREE, pair="versicolor"))
    assert_allclose(drawn["Fisher"].mean(axis=0), ovr.tangent_point_[1])
    assert_allclose(drawn["class versicolor"][0], THREE[0][THREE[1] == "versicolor"].mean(axis=0))
    assert_allclose(drawn["class rest"][0], THREE[0][THREE[1] != "versicolor"].mean(axis=0))
    assert "versicolor" in plot_projection(ovr, pair="versicolor").axes[0].get_xlabel()


@plain
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
def test_calibrated_moments_are_those_drawn():
    X, y = THREE[0][50:], THREE[1][50:]
    model = FisherDiscriminant(learner=RiskCalibration(anchor=0, max_iter=5), class_prior=[0.3, 0.7]).fit(X, y)
    ends = (drawn := lines(plot_classes(model)))["Fisher"]
    assert_allclose(model.decision_function(ends), 0, atol=1e-8)
    assert np.linalg.norm(drawn["points of contact"] - ends.mean(axis=0), axis=1).min() < 0.02


def test_where_there_is_no_plane():
    wide = rows_with_moments([[0.0, 0.0], [0.1, 0.0]], [np.eye(2), np.eye(2)])
    with pytest.warns(NoTangentPlaneWarning):
        model = LinearBayes(class_prior=[0.9, 0.1]).fit(*wide)
    assert "Linear Bayes: none, always 0" in lines(plot_classes(model))
    drawn = lines(plot_error_by_s(model))
    assert "Linear Bayes: not between" in drawn
    assert not any(label.startswith("least") for label in drawn)
    with pytest.raises(ValueError, match="no direction to project onto"):
        plot_projection(model)
    assert_allclose(Gaussians([[0.0, 0.0], [0.1, 0.0]], [np.eye(2)] * 2).errors(model), [0, 1])
    assert len(plot_bound(model).axes[0].lines) == 2


@pytest.mark.parametrize("d", [1, 2])
def test_the_projection_shades_the_error(d, tmp_path):
    model = LinearBayes(class_prior=[0.6, 0.4]).fit(MOMENTS[0][:, -d:], MOMENTS[1])
    figure = plot_projection(model, path=tmp_path / "projection.png")
    assert is_png(tmp_path / "projection.png")
    axes = figure.axes[0]
    for line, prior in zip(axes.lines[:2], (0.6, 0.4), strict=True):
        assert_allclose(np.trapezoid(line.get_ydata(), line.get_xdata()), prior, rtol=1e-3)
    area = 0
    for shade in axes.collections:
        x, y = shade.get_paths()[0].vertices.T
        area += abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    assert_allclose(area, 1 - model.gaussian_accuracy_[0], rtol=0.02)
    assert f"error {1 - model.gaussian_accuracy_[0]:.3f} if normal" in axes.get_title()
    assert_allclose(lines(figure)["cut"][:, 0], 0)


@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_the_least_errors_are_where_the_best_discriminants_are(scale, tmp_path):
    bayes, least = fitted(LinearBayes), fitted(MinimumErrorMPM)
    figure = plot_error_by_s([bayes, least], scale=scale, path=tmp_path / "s.png")
    assert is_png(tmp_path / "s.png")
    drawn = lines(figure)
    dots = [points[0] for label, points in drawn.items() if label.startswith("least")]
    assert_allclose(dots[0], [bayes.s_[0], 1 - bayes.gaussian_accuracy_[0]], rtol=1e-6)
    assert_allclose(dots[1], [least.s_[0], 1 - least.worst_case_accuracy_[0]], rtol=1e-6)
    for label, dot in zip(("if normal", "at most"), dots, strict=True):
        assert drawn[label][:, 1].min() >= dot[1] - 1e-12
        assert_allclose(drawn[label][:, 1].min(), dot[1], rtol=1e-3)
    assert_allclose(drawn[f"Linear Bayes, $s$ = {bayes.s_[0]:.3g}"][:, 0], bayes.s_[0])


def test_the_bound(tmp_path):
    model = fitted(FisherDiscriminant)
    figure = plot_bound(model, distances=[3**0.5], path=tmp_path / "bound.png")
    assert is_png(tmp_path / "bound.png")
    assert [text.get_text() for text in figure.axes[0].texts] == ["75.0 %", "95.8 %"]
    drawn = lines(figure)
    d, share = drawn["at least: $D^2 / (1 + D^2)$"].T
    assert_allclose(share, d**2 / (1 + d**2))
    assert_allclose(drawn[r"normal: $\Phi(D)$"][:, 1], norm.cdf(d))
    assert_allclose(drawn["Fisher, class 1"][:, 0], model.distances_[0, 1])
    assert (drawn["at least: $D^2 / (1 + D^2)$"][:, 1] <= drawn[r"normal: $\Phi(D)$"][:, 1]).all()


@pytest.mark.filterwarnings("ignore::suffice.NoTangentPlaneWarning")
@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")
def test_accuracies_by_prior(tmp_path):
    priors = np.array([0.1, 0.5, 0.9])
    sweep = accuracy_by_prior([kind() for kind in KINDS], CLASSES, priors)
    assert sweep.names[-1] == "Optimal Bayes"
    assert sweep.accuracy.shape == (7, 3)
    for kind, accuracy in zip(KINDS, sweep.accuracy, strict=False):
        expected = [fitted(kind, (p, 1 - p)).gaussian_accuracy_[0] for p in priors]
        assert_allclose(accuracy, expected, atol=1e-5)
    best, bayes = sweep.accuracy[-1], sweep.accuracy[-2]
    assert (best > sweep.accuracy[:-1].max(axis=0) - 0.01).all()
    assert (bayes >= sweep.accuracy[:-2].max(axis=0) - 1e-6).all()
    figure = plot_accuracy_by_prior(sweep, title="by prior", path=tmp_path / "priors.png")
    assert is_png(tmp_path / "priors.png")
    assert_allclose(lines(figure)["Fisher"], np.column_stack([priors, 100 * sweep.accuracy[0]]))
    both = PriorSweep.average([sweep, PriorSweep(sweep.names, priors, sweep.accuracy - 0.2)])
    assert_allclose(both.accuracy, sweep.accuracy - 0.1)


def test_samples_agree_with_the_classes_they_come_from():
    rng = np.random.default_rng(0)
    rows = [rng.multivariate_normal(m, s, 30_000) for m, s in zip(MEANS, COVARIANCES, strict=True)]
    models = [FisherDiscriminant(), MinimaxProbabilityMachine(costs=[[0, 1], [3, 0]])]
    counted, exact = (accuracy_by_prior(models, on, [0.2, 0.7]) for on in (Samples(*rows), CLASSES))
    assert counted.names == ("Fisher", "Minimax (MPM)", "Quadratic Bayes")
    assert_allclose(counted.accuracy, exact.accuracy, atol=0.01)


def test_the_true_ratio_makes_the_bayes_rule_optimal():
    rng = np.random.default_rng(0)
    one, two = rng.uniform(0, 1, (20_000, 1)), rng.uniform(0.5, 2.5, (20_000, 1))

    def ratio(x):
        inside = np.log([1e-9, 0.5])[((x > 0.5) & (x < 2.5)).astype(int)], np.log([1e-9, 1.0])[(x < 1).astype(int)]
        return (inside[0] - inside[1]).ravel()

    sweep = accuracy_by_prior(LinearBayes(), Samples(one, two, ratio), [0.2, 0.5, 0.8])
    # class 1 is half as dense beyond 0.5 as class 2 if P1 is 1/5, and denser from P1 = 1/3 on
    assert_allclose(sweep.accuracy[1], [0.9, 0.875, 0.95], atol=0.005)
    assert sweep.names[1] == "Optimal Bayes"


def test_fixed_rules_are_lines_and_the_minimax_one_is_level(tmp_path):
    models = [fitted(MinimaxProbabilityMachine), fitted(FisherDiscriminant)]
    figure = plot_minimax(models, at=[0.2], path=tmp_path / "minimax.png")
    assert is_png(tmp_path / "minimax.png")
    drawn = lines(figure)
    assert_allclose(np.ptp(drawn["Minimax (MPM)"][:, 1]), 0, atol=1e-9)
    assert_allclose(drawn["Fisher"][:, 1], 100 * norm.cdf(-models[1].distances_[0, ::-1]))
    x, y = drawn["Optimal Bayes"].T
    fixed = drawn["fixed at $P_1$ = 0.2"]
    line = np.interp(x, *fixed.T)
    assert (y <= line + 0.1).all()  # it touches from above
    assert_allclose(np.interp(0.2, x, y), np.interp(0.2, *fixed.T), atol=0.02)
    assert (np.diff(y, 2) < 0.1).all()  # concave, except for chance
    assert y.max() <= drawn["Minimax (MPM)"][0, 1]
    worst = next(points for label, points in drawn.items() if label.startswith("fixed at its worst"))
    assert_allclose(worst[:, 1], y.max())
    assert_allclose(lines(plot_minimax(models, CLASSES, priors=[0.5]))["Fisher"], drawn["Fisher"], rtol=1e-4)


def test_equal_covariances_make_the_linear_rule_optimal():
    classes = Gaussians([[0.0, 0.0], [2.0, 0.0]], [np.eye(2)] * 2)
    sweep = accuracy_by_prior(LinearBayes(), classes)
    assert_allclose(*sweep.accuracy, atol=0.003)


def test_learning_rates(tmp_path):
    drawn = lines(plot_learning_rate(500, 0.2, path=tmp_path / "rates.png"))
    assert is_png(tmp_path / "rates.png")
    for decay in ("exponential", "linear"):
        k, rate = drawn[decay].T
        assert_allclose(rate, learning_rate(k, 500, 0.2, decay))
        assert (k[0], k[-1], rate[-1]) == (1, 500, 0)


def test_several_figures_share_one():
    figure = Figure()
    left, right = figure.subfigures(1, 2)
    model = fitted(QuasiBayes)
    for draw, part in ((plot_classes, left), (plot_error_by_s, right)):
        ax = part.add_subplot()
        assert draw(model, ax=ax) is figure
        assert ax.lines


def test_dollars_are_not_mathematics(tmp_path):
    frame = pd.DataFrame(MOMENTS[0], columns=["a $_$", "b"])
    model = {"$^$": QuasiBayes().fit(frame, np.array(["$^$ x", "y"])[MOMENTS[1]])}
    for draw in (plot_classes, plot_projection, plot_error_by_s, plot_bound, plot_minimax):
        draw(model, path=tmp_path / "dollars.png")
    plot_accuracy_by_prior(accuracy_by_prior(model, CLASSES, [0.5]), path=tmp_path / "dollars.png")


def test_names_in_the_legend():
    drawn = lines(plot_classes([fitted(ScatterDiscriminant, p) for p in ((0.3, 0.7), (0.6, 0.4))]))
    assert {"Scatter 1", "Scatter 2"} <= set(drawn)


FISHER = fitted(FisherDiscriminant)


@cache
def of_iris(multi_class="ovo"):
    return FisherDiscriminant(multi_class=multi_class).fit(*THREE)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: plot_classes(FisherDiscriminant()), "is not fitted yet"),
        (lambda: plot_minimax(FisherDiscriminant()), "is not fitted yet"),
        (lambda: plot_classes(FisherDiscriminant), "such as FisherDiscriminant\\(\\), got FisherDiscriminant"),
        (lambda: plot_bound(LinearDiscriminantAnalysis()), "tangent discriminants.* got a LinearDiscriminantAnalysis"),
        (lambda: plot_classes([]), "at least one tangent discriminant, got none"),
        (lambda: plot_classes(FisherDiscriminant().fit(*IRIS), pair=(0, 1)), "two features, and 4 were learned"),
        (lambda: plot_classes(of_iris()), r"\['setosa', .*\] were learned: give pair=\(one, other\)"),
        (lambda: plot_error_by_s(of_iris("ovr")), "give pair=label for that class against the rest"),
        (lambda: plot_projection(of_iris(), pair=("setosa", "rose")), r"got pair=\('setosa', 'rose'\)"),
        (lambda: plot_projection(of_iris(), pair="setosa"), "got pair='setosa'"),
        (lambda: plot_projection(of_iris("ovr"), pair="rose"), "give pair=label for that class against the rest, got"),
        (lambda: plot_classes(FISHER, pair=(0, 0)), r"the classes learned are \[0, 1\]"),
        (lambda: plot_minimax(of_iris()), "probabilities of two classes, and Fisher learned more"),
        (lambda: plot_classes(FISHER, [[1.0, 2.0]]), "give y with X"),
        (
            lambda: plot_classes(FISHER, [[1.0, 2.0, 3.0]], [0]),
            r"2 features and y a label for each row, got X \(1, 3\)",
        ),
        (lambda: plot_classes(FISHER, levels=[0]), "levels must be positive"),
        (lambda: plot_classes(FISHER, ax=3), "ax must be matplotlib axes or None, got a int"),
        (lambda: plot_classes([FISHER, of_iris()], pair=(0, 1)), r"the classes learned are \['setosa'"),
        (
            lambda: plot_classes([FISHER, QuasiBayes().fit(MOMENTS[0] * 2, MOMENTS[1])]),
            "Fisher and Quasi-Bayes were learned from different means or covariances",
        ),
        (
            lambda: plot_error_by_s([FISHER, QuasiBayes().fit(MOMENTS[0][:, :1], MOMENTS[1])]),
            "separate different classes or features",
        ),
        (lambda: plot_error_by_s([FISHER, fitted(QuasiBayes, (0.5, 0.5))]), "learned at different priors"),
        (lambda: plot_error_by_s(FISHER, scale="log"), r"scale must be one of \('linear', 'logit'\), got 'log'"),
        (lambda: plot_projection([FISHER, FISHER]), "shows one discriminant, got 2"),
        (lambda: plot_bound(distances=[-1]), "distances must be finite numbers of at least 0"),
        (lambda: plot_accuracy_by_prior([0.5]), "the result of accuracy_by_prior, got a list"),
        (lambda: accuracy_by_prior(FISHER, MOMENTS), "classes must be Gaussians.* got a tuple"),
        (lambda: plot_minimax(FISHER, MOMENTS), "classes must be Gaussians.* got a tuple"),
        (lambda: accuracy_by_prior(FISHER, CLASSES, [0.0, 0.5]), "priors must be numbers between 0 and 1"),
        (
            lambda: accuracy_by_prior(FisherDiscriminant(learner=RiskCalibration(anchor=0)), CLASSES),
            "Fisher must learn in closed form",
        ),
        (lambda: PriorSweep.average([]), "at least one, of the same rules"),
        (lambda: Gaussians(MEANS[:1], COVARIANCES[:1]), "two classes, got 1 means"),
        (lambda: Gaussians(MEANS, COVARIANCES[0]), r"\(k, d, d\), got shapes \(2, 2\) and \(2, 2\)"),
        (lambda: Gaussians(MEANS, -COVARIANCES), "covariance 0 must be symmetric and have no negative eigenvalue"),
        (lambda: Gaussians(MEANS * np.nan, COVARIANCES), "means and covariances must be finite"),
        (
            lambda: Samples([[1.0, 2.0]], [[1.0]]),
            r"two rows or more of the same features, got shapes \(1, 2\), \(1, 1\)",
        ),
        (lambda: plot_learning_rate(1), "n_visits must be a whole number of at least 2, got 1"),
        (lambda: plot_learning_rate(10, 0), "initial must be above 0 and at most 1, got 0"),
    ],
)
def test_what_is_wrong_with_the_input(call, says):
    with pytest.raises(ValueError, match=says):
        call()


@plain
def test_moments_of_pairs_that_a_learner_has_moved_are_drawn():
    model = FisherDiscriminant(learner=RiskCalibration(max_iter=2, stop=None)).fit(*THREE)
    pencil = model.pencil(1)  # of the first class and the third
    assert_allclose(model.coef_[1], pencil.tangent(0.0).coef)
    plot_classes(model, pair=("setosa", "virginica"))


def test_a_plane_that_is_not_finite_is_not_drawn():
    model = fitted(MinimaxProbabilityMachine)
    model._learned = replace(model._learned, parameters=(replace(model.parameters_[0], coef=np.full(2, np.nan)),))
    with pytest.raises(ValueError, match=r"Minimax \(MPM\) has no finite plane.* ridge > 0"):
        plot_classes(model)
