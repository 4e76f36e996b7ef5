"""Networks against brute force: spanning trees, products of factors, sums over missing entries."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, logsumexp

from suffice import AODE, BayesNetClassifier, Dirichlet, KDependenceNB, NaiveBayes, TreeAugmentedNB, load
from suffice._core.labels import OneHot
from suffice.data import Memory
from suffice.learners import ClosedForm, ExpertWeights
from suffice.models import NoNomogramError
from suffice.models.networks.families import FamilyFeatures, ordered
from suffice.models.networks.structure import spanning_tree
from suffice.testing import check_model


def words(seed, n=300, d=5, k=3):
    """Rows of categories in which columns depend on the class and on the column before."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = np.zeros((n, d), dtype=int)
    X[:, 0] = (y + rng.integers(2, size=n)) % 3
    for j in range(1, d):
        copied = rng.random(n) < 0.3 + 0.15 * (j % 3)
        X[:, j] = np.where(copied, X[:, rng.integers(j)], rng.integers(2 + j % 3, size=n))
    return X.astype(str), y


def information(a, b, y):
    """I(a; b | y) in nats, from a dictionary of counts."""
    n = len(y)
    abc, ac, bc, c = (Counter(zip(*some, strict=True)) for some in ((a, b, y), (a, y), (b, y), (y,)))
    return sum(m / n * np.log(m * c[(z,)] / (ac[u, z] * bc[v, z])) for (u, v, z), m in abc.items())


def strength(X, y):
    d = X.shape[1]
    return np.array([[information(X[:, i], X[:, j], y) if i != j else 0.0 for j in range(d)] for i in range(d)])


def is_tree(edges, d):
    joined = {frozenset([j]) for j in range(d)}
    for i, j in edges:
        a, b = (next(part for part in joined if one in part) for one in (i, j))
        if a == b:
            return False
        joined = joined - {a, b} | {a | b}
    return True


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_is_the_best_of_all_spanning_trees(seed):
    X, y = words(seed)
    S = strength(X, y)
    edges = list(itertools.combinations(range(5), 2))
    best = max(sum(S[e] for e in some) for some in itertools.combinations(edges, 4) if is_tree(some, 5))
    model = TreeAugmentedNB().fit(X, y)
    ours = [(j, up[0]) for j, up in model.parents_.items() if up]
    assert is_tree(ours, 5)
    assert len(ours) == 4
    assert_allclose(sum(S[e] for e in ours), best, rtol=1e-9)
    (root,) = (j for j, up in model.parents_.items() if not up)
    relevance = [information(X[:, j], y, np.zeros(len(y))) for j in range(5)]
    assert root == np.argmax(relevance)
    graph = model.structure_.graph
    assert_allclose(graph.relevance, relevance, atol=1e-9)
    assert_allclose(graph.strength, [S[e] for e in ours], atol=1e-9)


def test_columns_without_information_in_common_stay_apart():
    assert spanning_tree(np.zeros((3, 3)), np.array([0.1, 0.3, 0.2])) == ((), (), ())
    assert ordered(((1,), (), (1, 0))) == [1, 0, 2]
    with pytest.raises(ValueError, match="their own ancestors"):
        ordered(((1,), (0,)))


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_k_dependence_is_as_sahami_says(k):
    X, y = words(1)
    S = strength(X, y)
    order = sorted(range(5), key=lambda j: -information(X[:, j], y, np.zeros(len(y))))
    expected = {j: sorted(order[:at], key=lambda i: -S[j, i])[:k] for at, j in enumerate(order)}
    assert KDependenceNB(k).fit(X, y).parents_ == {j: expected[j] for j in range(5)}


def factors(X, y, parents, weigh):
    """log p(y | x) by a dictionary of counts: weigh(n, N, order, value shares) -> p for tables of one order."""
    classes, out = np.unique(y), np.zeros((len(X), len(np.unique(y))))
    for c, label in enumerate(classes):
        out[:, c] = np.log((y == label).mean())
        rows = X[y == label]
        for j, up in parents.items():
            values = np.unique(X[:, j])
            for i, x in enumerate(X):
                p = {v: (np.sum(X[:, j] == v) + 0.5) / (len(X) + len(values) / 2) for v in values}
                for order in range(len(up) + 1):
                    same = rows[(rows[:, up[:order]] == x[up[:order]]).all(axis=1)]
                    p = {v: weigh((same[:, j] == v).sum(), len(same), (j, order), p[v], len(values)) for v in values}
                out[i, c] += np.log(p[x[j]])
    return log_softmax(out, axis=1)


PARENTS = {0: [], 1: [0], 2: [1], 3: [2, 0], 4: [0, 3, 1]}


def test_tables_are_smoothed_order_by_order():
    X, y = words(2, n=120)
    model = BayesNetClassifier(PARENTS).fit(X, y)
    A = model._fit_result().model.chain.weight
    assert len(np.unique(A)) > 1

    def towards_the_lower_order(n, N, at, share, r):
        return (n + A[at] * share) / (N + A[at])

    assert_allclose(model.predict_log_proba(X), factors(X, y, PARENTS, towards_the_lower_order), atol=1e-10)
    fixed = BayesNetClassifier(PARENTS, prior=Dirichlet(3.0, "table", "marginal")).fit(X, y)
    expected = factors(X, y, PARENTS, lambda n, N, at, share, r: (n + 3 * share) / (N + 3))
    assert_allclose(fixed.predict_log_proba(X), expected, atol=1e-10)


@pytest.mark.parametrize("prior", [Dirichlet(), Dirichlet(2.0, "table"), None])
def test_plain_priors_are_products_of_factors(prior):
    X, y = words(3)
    model = BayesNetClassifier(PARENTS, prior=prior).fit(X, y)

    def plain(n, N, at, share, r):
        A = 0.0 if prior is None else float(prior.cell(np.array(r)) * r)
        return (n + A / r) / (N + A) if N + A > 0 else 1.0 / r

    with np.errstate(divide="ignore"):
        expected = factors(X, y, PARENTS, plain)
    assert_allclose(model.predict_proba(X), np.exp(expected), atol=1e-10)


def test_more_parents_never_fit_the_rows_worse():
    X, y = words(4, n=400)

    def likelihood(model):
        joint = model.fit(X, y).predict_joint_log_proba(X)
        return joint[np.arange(len(y)), y].sum()

    chain = [{}, {1: [0], 2: [1]}, {1: [0], 2: [1, 0], 3: [2]}, {j: list(range(j)) for j in range(5)}]
    found = [likelihood(BayesNetClassifier(graph, prior=None)) for graph in chain]
    assert (np.diff(found) >= -1e-9).all()
    tan, naive = likelihood(TreeAugmentedNB(prior=None)), likelihood(KDependenceNB(0, prior=None))
    assert_allclose(naive, likelihood(NaiveBayes(prior=None, min_frequency=0)), rtol=1e-9)
    assert naive <= tan <= likelihood(KDependenceNB(4, prior=None))


# Missing entries


def summed_out(model, X, values):
    """log p(x, y) of rows, each the sum over all values of its missing entries."""
    out = []
    for x in X:
        holes = [j for j, entry in enumerate(x) if entry is None]
        full = []
        for filling in itertools.product(*(values[j] for j in holes)):
            row = np.array(x, dtype=object)
            row[holes] = filling
            full.append(row)
        out.append(logsumexp(model.predict_joint_log_proba(np.array(full, dtype=object)), axis=0))
    return np.array(out)


@pytest.mark.parametrize("learned_with_holes", [False, True])
def test_in_a_tree_missing_entries_are_summed_out(learned_with_holes):
    X, y = words(5, n=200)
    values = [np.unique(column) for column in X.T]
    holes = X.astype(object)
    holes[np.random.default_rng(0).random(X.shape) < 0.4] = None
    for model in (TreeAugmentedNB(), BayesNetClassifier({0: [3], 1: [3], 2: [1], 4: [2]})):
        model.fit(holes if learned_with_holes else X, y)
        rows = holes[:60]
        assert_allclose(model.predict_joint_log_proba(rows), summed_out(model, rows, values), atol=1e-10)
        found = model.contributions(rows)
        assert_allclose(log_softmax(found.log_joint, axis=1), model.predict_log_proba(rows), atol=1e-10)


def test_without_a_parent_a_row_is_scored_by_the_table_of_the_parents_before():
    X, y = words(6)
    holes = X.astype(object)
    holes[:, 1] = None
    model = BayesNetClassifier({2: [0, 1], 3: [1, 0]}).fit(X, y)
    less = BayesNetClassifier({2: [0], 3: []}).fit(X, y)
    less._fit_result().model.chain.weight[:, :2] = model._fit_result().model.chain.weight[:, :2]
    assert_allclose(model.predict_log_proba(holes), less.predict_log_proba(holes), atol=1e-12)
    # how far this approximation is from the sum over the values of the parent
    gap = abs(np.exp(model.predict_log_proba(holes)) - np.exp(log_softmax(
        summed_out(model, holes, [np.unique(column) for column in X.T]), axis=1)))  # fmt: skip
    assert gap.mean() < 0.05
    assert 0 < gap.max() < 0.3


@pytest.mark.parametrize("graph", [{1: [0], 2: [1], 3: [1], 4: [3]}, PARENTS])
def test_leaving_a_row_out_is_refitting_to_the_last_bits(graph):
    X, y = words(7, n=80)
    holes = X.astype(object)
    holes[np.random.default_rng(1).random(X.shape) < 0.2] = None
    fit = BayesNetClassifier(graph).fit(holes, y)._fit_result()
    model, s = fit.model, fit.statistics
    rows, Y = model.encoder(holes), OneHot.of(y)
    got = model.log_joint_without(rows, Y, fit.parameters, s)
    for i in range(len(y)):
        at = slice(i, i + 1)
        theta = model.parameters(s - model.statistics(rows[at], Y[at].onto(s.domain.classes)))
        assert_allclose(got[at], model.log_joint(rows[at], theta), rtol=1e-14, atol=1e-13)


# Families as features


def test_families_of_more_categories_have_the_same_cells():
    def features(*categories):
        return FamilyFeatures(
            3, None, tuple(map(np.array, categories)), parents=((), (0,), (1, 0)), intervals=(False,) * 3
        )

    a = features(["u", "w"], ["x"], ["b", "c"])
    b = features(["u", "v"], ["x", "y"], ["a", "c"])
    both = a | b
    assert [c.tolist() for c in both.categories] == [["u", "v", "w"], ["x", "y"], ["a", "b", "c"]]
    rng = np.random.default_rng(0)
    for one in (a, b):
        own = np.column_stack([rng.integers(-1, n, 200) for n in one.lengths]).astype(np.int32)
        rows = one.encoded(own)
        assert_array_equal(one.own(rows.values), own)
        maps = [np.append(np.searchsorted(m, c), -1) for m, c in zip(both.categories, one.categories, strict=True)]
        wide = both.encoded(np.column_stack([m[own[:, j]] for j, m in enumerate(maps)]).astype(np.int32))
        assert_array_equal(both.read(rows), wide.values)
        assert_array_equal(one.read(wide), rows.values)
        flat = rows.values + one.starts[:-1]
        there = rows.values >= 0
        assert_array_equal(one.cells(both)[flat[there]], (wide.values + both.starts[:-1])[there])
    unknown = a.read(b.encoded(np.array([[1, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.int32)))
    assert_array_equal(unknown[:, 0], [-1, 0, 0])
    assert_array_equal(a.own(unknown), [[-1, 0, 1], [0, -1, 1], [0, 0, -1]])
    with pytest.raises(ValueError, match="other parents"):
        a.check(FamilyFeatures(3, None, a.categories, parents=((), (), ()), intervals=(False,) * 3))
    some = np.zeros(int(a.starts[-1]), dtype=bool)
    some[int(a.starts[2])] = True  # the first category of the last column, with no parent
    assert [c.tolist() for c in a.seen(some).categories] == [[], [], ["b"]]


def test_selective_dependence_is_the_best_by_refitting_without_each_row():
    X, y = words(8, n=90, d=4, k=2)
    X[:, 3] = np.random.default_rng(0).integers(3, size=90).astype(str)  # says nothing
    full = KDependenceNB(5).fit(X, y)
    graph = full.structure_.graph
    order = np.argsort(-graph.relevance, kind="stable")
    losses = {}
    for m, k in itertools.product(range(1, 5), range(4)):
        kept = order[:m].tolist()
        parents = {j: full.parents_[j][:k] for j in kept}
        dropped = {j: "drop" for j in range(4) if j not in kept}
        model = BayesNetClassifier(parents, columns=dropped).fit(X, y)
        losses[m, k] = -model.loo_log_proba(X, y)[np.arange(90), y].mean()
    best = min(losses.values())
    selected = KDependenceNB("loo").fit(X, y)
    loss = -selected.loo_log_proba(X, y)[np.arange(90), y].mean()
    assert loss <= best * (1 + 2e-4)
    m, k = len(selected.parents_), max(map(len, selected.parents_.values()))
    assert_allclose(loss, losses[m, k], rtol=1e-9)
    assert 3 not in selected.parents_
    assert "not predicted better" in str(selected.columns_)


# Averaged one-dependence estimators


def one_dependence(X, y, rows, prior=1.0):
    """log p_i(x | y) of each row and super-parent (n, k, m), by Webb's formulas with Laplace's rule."""
    classes, out = np.unique(y), np.zeros((len(rows), len(np.unique(y)), X.shape[1]))
    sizes = [len(np.unique(column)) for column in X.T]
    for (n, x), (c, label), i in itertools.product(enumerate(rows), enumerate(classes), range(X.shape[1])):
        own = X[y == label]
        out[n, c, i] = np.log(((own[:, i] == x[i]).sum() + prior) / (len(own) + prior * sizes[i]))
        given = own[own[:, i] == x[i]]
        for j in set(range(X.shape[1])) - {i}:
            out[n, c, i] += np.log(((given[:, j] == x[j]).sum() + prior) / (len(given) + prior * sizes[j]))
    return out


def test_the_plain_average_is_webbs():
    X, y = words(9, n=150, d=4)
    model = AODE(prior=Dirichlet(), learner=ClosedForm()).fit(X, y)
    each = one_dependence(X, y, X[:40])
    share = np.log(np.bincount(y) / len(y))
    expected = log_softmax(share + logsumexp(each, axis=2), axis=1)
    assert_allclose(model.predict_log_proba(X[:40]), expected, atol=1e-10)
    assert model.contributions(X[:5]).names == ["all columns"]
    with pytest.raises(NoNomogramError, match="averaged"):
        model.nomogram()


def test_weights_are_those_of_the_least_loss_on_rows_left_out():
    X, y = words(10, n=250, d=4)
    model = AODE(prior=Dirichlet(), learner=ExpertWeights(ridge=0.0)).fit(X, y)
    w = list(model.weights_.values())
    share = np.log(np.bincount(y) / len(y))
    expected = log_softmax(w[0] * share + one_dependence(X, y, X[:30]) @ w[1:], axis=1)
    assert_allclose(model.predict_log_proba(X[:30]), expected, atol=1e-10)
    assert_allclose(log_softmax(model.contributions(X[:30]).log_joint, axis=1), expected, atol=1e-10)

    def loss(one):
        return -one.loo_log_proba(X, y)[np.arange(len(y)), y].mean()

    ours = loss(AODE(prior=Dirichlet(), weights=model.weights_, learner=ClosedForm()).fit(X, y))
    rng = np.random.default_rng(0)
    for _ in range(5):
        other = {name: value * rng.uniform(0.7, 1.4) for name, value in model.weights_.items()}
        assert ours < loss(AODE(prior=Dirichlet(), weights=other, learner=ClosedForm()).fit(X, y)) + 1e-9
    assert ours < loss(AODE(prior=Dirichlet(), learner=ClosedForm()).fit(X, y))


def test_averages_leave_rows_out_merge_and_take_missing_entries():
    X, y = words(11, n=60, d=3)
    X = X.astype(object)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = None
    model = AODE(learner=ClosedForm()).fit(X, y)
    fit = model._fit_result()
    rows, Y = fit.model.encoder(X), OneHot.of(y)
    got = fit.model.log_joint_without(rows, Y, fit.parameters, fit.moved)
    for i in range(0, len(y), 7):
        at = slice(i, i + 1)
        theta = fit.model.parameters(fit.moved - fit.model.statistics(rows[at], Y[at].onto(model.classes_)))
        assert_allclose(got[at], fit.model.log_joint(rows[at], theta), atol=1e-12)
    a, b = (AODE(encoder=model.encoder_, learner=ClosedForm()).fit(X[i::2], y[i::2]) for i in (0, 1))
    assert_allclose((a + b).predict_proba(X), model.predict_proba(X), atol=1e-12)
    assert "network" in str(model.columns_)


@pytest.mark.filterwarnings("ignore::suffice._runtime.messages.StaleWarning")
@pytest.mark.parametrize("learner", [None, ClosedForm()])
def test_averages_obey_the_laws_of_models(learner, tmp_path):
    X, y = words(12, n=80, d=3)
    model = AODE(learner=learner).fit(X, y)
    check_model(model._bound_model(), X, y, seeds=[0])
    model.save(tmp_path / "one.suffice")
    assert_array_equal(load(tmp_path / "one.suffice").predict_proba(X), model.predict_proba(X))
    model.partial_fit(X[:10], y[:10]).forget(X[:10], y[:10])
    assert_allclose(model.predict_proba(X), AODE(learner=learner).fit(X, y).predict_proba(X), atol=1e-6)
    again = AODE(learner=learner).fit(Memory(X, y, batch_size=9))
    assert_allclose(again.predict_proba(X), AODE(learner=learner).fit(X, y).predict_proba(X), atol=1e-6)
