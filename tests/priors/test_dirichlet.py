"""Priors of tables: pseudo-counts by column, class and category; and categories that are declared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn import naive_bayes
from sklearn.preprocessing import OrdinalEncoder

from suffice import CategoricalNB, Dirichlet, GaussianNB
from suffice.data import Memory
from suffice.learners import RiskCalibration
from tests.samples import plain

FRUIT = pd.DataFrame(
    {"colour": ["red", "red", "blue", "green", "blue", "red"], "size": [1, 2, 1, 1, 2, 2]}, dtype=object
)
Y = np.array(["ripe", "ripe", "raw", "raw", "raw", "ripe"])


def probabilities(prior, column=0, **settings):
    model = CategoricalNB(prior=prior, **settings).fit(FRUIT, Y)
    return np.exp(model.feature_log_prob_[column])  # rows raw, ripe; blue, green, red


@pytest.mark.parametrize("column", ["colour", 0])
@pytest.mark.parametrize("counts", [{"red": 3, "blue": 1, "green": 2}, [1, 2, 3], np.array([1.0, 2.0, 3.0])], ids=str)
def test_pseudo_counts_of_a_column(column, counts):
    prior = Dirichlet(0.5, columns={column: counts})
    assert_allclose(probabilities(prior), np.array([[3, 3, 3], [1, 2, 6]]) / 9)
    assert_allclose(probabilities(prior, 1), (np.array([[2, 1], [1, 2]]) + 0.5) / 4)  # the other stays


def test_a_category_that_a_dict_leaves_out_and_a_number_for_all():
    assert_allclose(probabilities(Dirichlet(0.5, columns={"colour": {"red": 3}}))[0], np.array([2.5, 1.5, 3]) / 7)
    assert_allclose(probabilities(Dirichlet(columns={"colour": 2.0}))[1], np.array([2, 2, 5]) / 9)


def test_pseudo_counts_of_a_class():
    prior = Dirichlet(1.0, columns={"colour": 2.0}, classes={"ripe": {"colour": {"red": 8}, "size": [0, 4]}})
    assert_allclose(probabilities(prior), [[4 / 9, 3 / 9, 2 / 9], [2 / 15, 2 / 15, 11 / 15]])
    assert_allclose(probabilities(prior, 1), [[3 / 5, 2 / 5], [1 / 7, 6 / 7]])


def test_they_are_the_map_of_a_dirichlet_density():
    """rc1, appendix B: the mode of the posterior under alpha = a + 1."""
    a, counts = np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 0.0])

    def log_posterior(z):
        log_p = z - np.log(np.exp(z).sum())
        return (counts + (a + 1) - 1) @ log_p

    best = minimize(lambda z: -log_posterior(z), np.zeros(3), options={"gtol": 1e-10}).x
    mode = np.exp(best) / np.exp(best).sum()
    assert_allclose(probabilities(Dirichlet(columns={"colour": a}))[0], mode, atol=1e-7)


def test_the_marginal_is_that_of_all_classes():
    share = (np.array([2, 1, 3]) + 0.5) / (6 + 1.5)
    assert_allclose(probabilities(Dirichlet(4.0, "table", "marginal"))[0], (np.array([2, 1, 0]) + 4 * share) / 7)
    assert_allclose(probabilities(Dirichlet(2.0, "cell", "marginal"))[0], (np.array([2, 1, 0]) + 6 * share) / 9)


@plain
def test_calibration_begins_at_such_priors():
    prior = Dirichlet("evidence", base="marginal", classes={"ripe": {"colour": {"red": 8}}})
    model = CategoricalNB(prior=prior, learner=RiskCalibration(0.1, max_iter=5)).fit(FRUIT, Y)
    assert_allclose(model.history_["log_loss"][0], _log_loss(CategoricalNB(prior=prior).fit(FRUIT, Y)))


def _log_loss(model):
    return -model.predict_log_proba(FRUIT)[np.arange(len(Y)), np.searchsorted(model.classes_, Y)].mean()


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (
            Dirichlet(columns={"colour": [1, 2]}),
            r"columns\['colour'\] has shape \(2,\), but column 'colour' has 3.*\(3,\)",
        ),
        (
            Dirichlet(columns={"colour": {"pink": 1}}),
            r"\['pink'\], but the categories of column 'colour' are",
        ),
        (
            Dirichlet(columns={"taste": 1.0}),
            r"columns has 'taste', which is not a column: the columns are \['colour', 'size'\]",
        ),
        (Dirichlet(columns={2: 1.0}), r"columns has 2, which is not a column.*by number 0 to 1"),
        (
            Dirichlet(columns={"colour": [1, -1, 1]}),
            r"columns\['colour'\] must be finite numbers of at least 0, got",
        ),
        (Dirichlet(columns=[1, 2]), "columns must be None or a dict with a column as key"),
        (Dirichlet(classes={"ripe": 3}), r"classes\['ripe'\] must be a dict of column: pseudo-counts, got 3"),
        (Dirichlet(classes={"rotten": {}}), r"Dirichlet: classes has \['rotten'\], which no row is labelled"),
        (Dirichlet(classes={"ripe": {"colour": [1]}}), r"classes\['ripe'\]\['colour'\] has shape \(1,\)"),
        (Dirichlet(base="mean"), r"base must be one of \('uniform', 'marginal'\), got 'mean'"),
        (Dirichlet("much"), "weight must be 'evidence' or a finite number of at least 0, got 'much'"),
    ],
    ids=str,
)
def test_wrong_priors_say_what_is_right(prior, message):
    with pytest.raises(ValueError, match=message):
        CategoricalNB(prior=prior).fit(FRUIT, Y)


@pytest.mark.parametrize(
    "prior", [Dirichlet("evidence"), Dirichlet(base="marginal"), Dirichlet(columns={0: 1.0})], ids=str
)
def test_classes_are_smoothed_alike(prior):
    words = r"class_prior takes Dirichlet\(weight, per\) with a number as weight, and no more"
    with pytest.raises(ValueError, match=words):
        GaussianNB(class_prior=prior).fit([[0.0], [1.0]], [0, 1])


# Categories that are declared

KNOWN = {"colour": ["red", "green", "blue", "yellow"]}


def test_declared_categories_have_cells():
    model = CategoricalNB(categories=KNOWN).fit(FRUIT, Y)
    assert model.categories_[0].tolist() == ["blue", "green", "red", "yellow"]
    assert_allclose(np.exp(model.feature_log_prob_[0][0]), np.array([3, 2, 1, 1]) / 7)
    assert model.categories_[1].tolist() == [1, 2]  # as the rows have it


def test_they_are_those_of_scikit_learn():
    given = [["blue", "green", "red", "yellow"], [0, 1, 2, 3]]
    encoder = OrdinalEncoder(categories=given).fit(FRUIT)
    theirs = naive_bayes.CategoricalNB(min_categories=[4, 4]).fit(encoder.transform(FRUIT), Y)
    ours = CategoricalNB(categories=given).fit(FRUIT, Y)
    assert_allclose(ours.predict_proba(FRUIT), theirs.predict_proba(encoder.transform(FRUIT)), atol=1e-12)


def test_other_values_are_refused_in_learning_and_left_out_in_predicting():
    model = CategoricalNB(categories=KNOWN).fit(FRUIT, Y)
    strange = pd.DataFrame({"colour": ["pink"], "size": [1]})
    with pytest.raises(ValueError, match=r"column 'colour' has the values \['pink'\], which are not among"):
        model.partial_fit(strange, ["ripe"])
    with pytest.raises(ValueError, match=r"declares \['blue', 'green', 'red', 'yellow'\]"):
        CategoricalNB(categories=KNOWN).fit(pd.concat([FRUIT, strange]), [*Y, "raw"])
    with pytest.raises(ValueError, match="pink"):
        CategoricalNB(categories=KNOWN).fit(Memory(pd.concat([FRUIT, strange]), [*Y, "raw"], batch_size=2))
    holes = pd.DataFrame({"colour": [None], "size": [1]})
    assert_allclose(model.predict_proba(strange), model.predict_proba(holes))


def test_they_stay_through_merging_and_forgetting():
    whole = CategoricalNB(categories=KNOWN).fit(FRUIT, Y)
    halves = [CategoricalNB(categories=KNOWN).fit(FRUIT.iloc[i::2], Y[i::2]) for i in (0, 1)]
    assert_allclose(sum(halves).predict_proba(FRUIT), whole.predict_proba(FRUIT))
    green = FRUIT.iloc[3:4]
    left = whole.forget(green, Y[3:4])
    assert left.categories_[0].tolist() == ["blue", "green", "red", "yellow"]  # of which two have no rows
    rest = CategoricalNB(categories=KNOWN).fit(FRUIT.drop(index=3), np.delete(Y, 3))
    assert_allclose(left.predict_proba(FRUIT), rest.predict_proba(FRUIT))
    with pytest.raises(ValueError, match="the settings differ: categories"):
        left.merge(CategoricalNB(categories={"colour": ["red", "green", "blue"]}).fit(FRUIT, Y))


def test_a_prior_may_speak_of_declared_categories():
    prior = Dirichlet(columns={"colour": {"yellow": 9}})
    p = probabilities(prior, categories=KNOWN)
    assert_allclose(p[0], np.array([3, 2, 1, 9]) / 15)


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ([["red"]], "categories has 1 lists, but there are 2 columns: give one for each, or None"),
        ({"taste": ["sour"]}, r"categories has 'taste', which is not a column: the columns are \['colour', 'size'\]"),
        ({"colour": "red"}, r"categories\['colour'\] must be a list of values, none of them missing, got 'red'"),
        ({"colour": []}, r"categories\['colour'\] must be a list of values"),
        ({"colour": ["red", None]}, r"categories\['colour'\] must be a list of values, none of them missing"),
        ({"colour": [1, 2, 3]}, "the values of column 'colour' are strings here and numbers there"),
        ({"colour": ["red", 1]}, r"categories\['colour'\] mixes numbers and strings"),
        ("red", "categories must be None, a list of the categories of every column, or a dict"),
    ],
    ids=str,
)
def test_wrong_declarations_say_what_is_right(categories, message):
    with pytest.raises(ValueError, match=message):
        CategoricalNB(categories=categories).fit(FRUIT, Y)


def test_a_list_may_leave_columns_out_and_arrays_are_lists():
    model = CategoricalNB(categories=[None, np.array([1, 2, 3])]).fit(FRUIT, Y)
    assert [len(c) for c in model.categories_] == [3, 3]
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[D]")
    model = CategoricalNB(categories=[days]).fit(days[:2, None], [0, 1])
    assert model.categories_[0].tolist() == days.tolist()
