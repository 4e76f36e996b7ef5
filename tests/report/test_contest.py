"""The course of a comparison: limits hold, what is slow is left out, what fails is said, whatever methods do."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import replace
from functools import partial
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import typeof
from rich.console import Console
from threadpoolctl import threadpool_limits

from suffice._runtime.lazy import Compiled
from suffice.compare import mcnemar
from suffice.compare.race.methods import CHANCE, METHODS, choose_methods, model_named
from suffice.compare.race.run import COMPILING, Race
from suffice.compare.race.schedule import Clock, Findings, Rounds, affordable, folds_in_time
from suffice.compare.race.table import read_table
from suffice.compare.race.terminal import left_out, show, warnings_of
from suffice.compare.race.trial import Bench, Compile, Fold, forecast, measured, stratified_order
from suffice.compare.race.verdict import BELOW_CHANCE, BELOW_START, LOSS_ABOVE_CHANCE, Comparison, Line
from suffice.data.files.reading import TableError
from suffice.model_selection.measures import Split
from tests.report import fakes


def run(methods, rows=200, seconds=60.0, walls=None, jobs=1, folds=10, watch=lambda *_: None):
    opening = partial(fakes.opening, walls or {})
    return Race(fakes.table(rows), tuple(methods), folds, 0, seconds, opening).run(jobs, watch)


@pytest.fixture(scope="module")
def ordinary():
    return run(["LDA", "LDA + RC", "NaiveBayes", "QDA", "kNN", "decision tree", CHANCE])


def test_everybody_has_a_first_fold_before_anybody_has_all():
    counts = []
    methods = ["LDA", "NaiveBayes", CHANCE]
    run(methods, watch=lambda found, _: counts.append([len(found.done(method)) for method in methods]), folds=4)
    assert next(sorted(row) for row in counts if max(row) == 2)[0] >= 1
    assert counts[-1] == [4, 4, 4]


def test_a_fit_that_does_not_end_is_ended_and_leaves_nobody_behind():
    began, others = time.monotonic(), set(multiprocessing.active_children())  # those of other tests
    found = run(["LDA", "SVM", CHANCE], seconds=6.0, jobs=2)
    assert time.monotonic() - began < 6 + 5
    assert found.done("LDA") == found.done(CHANCE) == list(range(10))
    assert found.done("SVM") == []
    assert "SVM left out: 0 of 10 folds, as" in left_out(found)[0]
    assert set(multiprocessing.active_children()) <= others


def test_failures_are_told_whether_by_an_error_or_by_the_end_of_a_process(ordinary):
    assert ordinary.failures["kNN"] == "ValueError: no neighbours"
    assert "its process ended by itself (code 3)" in ordinary.failures["decision tree"]
    assert ordinary.done("LDA") == list(range(10))
    assert not ordinary.skipped


def test_warnings_are_told_once_with_the_number_of_folds(ordinary):
    assert warnings_of(ordinary) == ["QDA warned in 10 folds: fold 0: beware"]


def test_warnings_are_told_to_their_end(ordinary):
    said = "the classes have " + "few rows, and " * 30 + "so it is stuck: give it a prior"
    found = replace(ordinary, results={("LDA", 3): {"warnings": [said]}})
    assert warnings_of(found) == [f"LDA warned in 1 fold: {said}"]


def test_methods_below_chance_or_their_start_are_marked_and_chance_has_its_rank(ordinary):
    lines = {line.method: line for line in Comparison.of(ordinary).lines}
    assert list(lines) == ["LDA", "LDA + RC", "NaiveBayes", CHANCE, "QDA"]
    marks = {method: line.marks for method, line in lines.items() if line.marks}
    assert marks == {"LDA + RC": (BELOW_START,), "QDA": (BELOW_CHANCE,)}


def test_a_log_loss_above_that_of_chance_is_marked_and_said(ordinary):
    loss = {"LDA": 4.438, "LDA + RC": 0.5, "NaiveBayes": 0.6, "QDA": 0.4, CHANCE: 0.693}
    results = {key: {**result, "log_loss": loss.get(key[0])} for key, result in ordinary.results.items()}
    comparison = Comparison.of(replace(ordinary, results=results))
    marked = {line.method for line in comparison.lines if LOSS_ABOVE_CHANCE in line.marks}
    assert comparison.best.method == "LDA"
    assert marked == {"LDA"}
    first, second, *others = comparison.verdict()
    assert first.startswith("LDA has the fewest rows wrong: ")
    assert ", but a log loss above chance" in first
    assert second.startswith("The log loss of LDA (4.438) is above that of the class shares (0.693)")
    assert not any("above chance" in one for one in others if "Best of suffice: LDA" not in one)
    out = Console(file=StringIO(), width=120)
    show(comparison, ordinary, out)
    text = " ".join(out.file.getvalue().split())
    assert "LDA \u2021" in text
    assert "\u2021 log loss above that of the class shares" in text
    calm = Comparison.of(replace(ordinary, results={k: r | {"log_loss": 0.5} for k, r in results.items()}))
    assert not any("log loss" in one for one in calm.verdict())


def test_what_would_take_too_long_is_left_out_by_its_trials():
    found = run(["LDA", "QDA", CHANCE], rows=9000, seconds=60.0, walls={"QDA": fakes.squared})
    assert found.done("LDA") == list(range(10))
    assert found.done("QDA") == []
    rows = found.train(found.folds)
    assert found.skipped["QDA"] == (
        f"a fold of {rows:,} rows would take about {(rows / 1000) ** 2:.0f} s, judged by 1,000 and 4,000 rows"
    )
    assert "(30.0% of rows wrong after 4,000 rows)" in left_out(found)[0]


def test_there_are_fewer_folds_where_time_asks_for_it():
    found = run(["LDA", "NaiveBayes", CHANCE], rows=9000, seconds=60.0, walls={"LDA": fakes.straight})
    assert found.folds == 10
    found = run(["LDA", "NaiveBayes", CHANCE], rows=9000, seconds=30.0, walls={"LDA": fakes.straight})
    assert found.folds == 5
    assert found.notes == ["5 folds instead of 10, so that more methods are done in time"]
    assert len(found.done("LDA")) == 5


def test_a_large_table_is_sampled_where_few_methods_would_be_done():
    walls = dict.fromkeys(["LDA", "NaiveBayes", "QDA"], fakes.straight)
    found = run(["LDA", "NaiveBayes", "QDA", CHANCE], rows=60_000, seconds=60.0, walls=walls)
    assert found.rows == 20_000
    assert "a sample of 20,000 of 60,000 rows, as few methods would be done in time on all of them" in found.notes[0]
    assert np.unique(found.fold_of, return_counts=True)[1].tolist() == [40_000] + [20_000 // found.folds] * found.folds
    assert Comparison.of(found).rows == 20_000
    assert {line.folds for line in Comparison.of(found).lines} == {found.folds}


def test_what_was_measured_is_kept_when_the_user_interrupts():
    def impatient(found, _):
        if len(found.done("LDA")) == 3:
            raise KeyboardInterrupt

    others = set(multiprocessing.active_children())  # those of other tests
    found = run(["LDA", CHANCE], watch=impatient)
    assert found.interrupted
    assert len(found.done("LDA")) == 3
    assert "LDA: 3 of 10 folds, as it was interrupted" in left_out(found)
    assert set(multiprocessing.active_children()) <= others


def test_an_interrupted_verdict_is_preliminary_and_names_what_was_not_measured():
    def impatient(found, _):
        if found.done("LDA") and found.done("NaiveBayes"):
            raise KeyboardInterrupt

    found = run([CHANCE, "LDA", "NaiveBayes", "QDA", "LDA + RC"], watch=impatient)
    assert left_out(found)[-1] == "QDA, LDA + RC left out: 0 of 10 folds, as it was interrupted"
    first, second, *_ = Comparison.of(found).verdict()
    assert first.startswith("Preliminary: LDA has the fewest rows wrong: 10.0 %, 10 points less than NaiveBayes.")
    assert second == "Not measured: QDA, LDA + RC. Each of them might win, given more time (--max-time)."


def test_a_method_left_out_that_was_better_in_its_trial_makes_the_verdict_preliminary():
    found = run(["LDA", "QDA", CHANCE], rows=9000, seconds=60.0, walls={"QDA": fakes.squared})
    assert Comparison.of(found).verdict()[0].startswith("LDA has the fewest")  # QDA was worse
    found.samples["QDA"]["error"] = 0.05
    first, second, *_ = Comparison.of(found).verdict()
    assert first.startswith("Preliminary: LDA has the fewest")
    assert second == (
        "Not measured: QDA (5.0% of rows wrong after 4,000 rows). It might win, given more time (--max-time)."
    )


def test_a_fold_that_comes_after_another_was_ended_is_counted():
    found = Findings(("LDA",), 10, 200)
    rounds = Rounds(found, ("LDA",), {}, Clock(time.monotonic() + 60, 60))
    rounds.hear(Fold("LDA", 0), None)
    assert found.skipped["LDA"] == "0 of 10 folds, as the next takes too long"
    rounds.hear(Fold("LDA", 1), {"wall": 0.1})
    assert found.skipped["LDA"] == "1 of 10 folds, as the next takes too long"


def test_only_methods_on_the_same_folds_are_compared(ordinary):
    for fold in range(4, 10):
        del ordinary.results["LDA", fold]
    comparison = Comparison.of(ordinary)
    assert comparison.folds == tuple(range(10))
    assert [line.method for line in comparison.others] == ["LDA"]
    assert comparison.best.method == "LDA + RC"
    assert comparison.rows == ordinary.rows
    assert "LDA has 4 of 10 folds, with 10.0 % of these rows wrong" in " ".join(comparison.verdict())
    for method, fold in [key for key in ordinary.results if key[1] >= 4]:
        if method != "QDA":
            del ordinary.results[method, fold]
    comparison = Comparison.of(ordinary)  # most have four folds: QDA is judged by these too
    assert comparison.folds == (0, 1, 2, 3)
    assert comparison.rows == 80
    assert {line.folds for line in comparison.lines} == {4}
    assert not comparison.others


def test_intervals_hold_the_differences_and_agree_with_the_test(ordinary):
    comparison = Comparison.of(ordinary)
    p, errors = comparison.against_best(), {line.method: line.error for line in comparison.lines}
    for method, (low, high) in comparison.intervals().items():
        assert low <= errors[method] - comparison.best.error <= high
        assert (low > 0) == (p[method] <= 0.05)


@given(st.integers(0, 2**32 - 1), st.integers(20, 400), st.integers(2, 8))
def test_a_bar_reaches_the_line_exactly_where_the_p_value_says_so(seed, rows, methods):
    rng = np.random.default_rng(seed)
    names = (CHANCE, *[name for name in METHODS if name != CHANCE][:methods])
    wrong = {name: rng.random(rows) < rng.uniform(0.1, 0.35) for name in names}
    line = Line("", 0.0, None, None, None, None, None, 0.0, 0.0, 1)
    lines = sorted((replace(line, method=n, error=float(wrong[n].mean())) for n in names), key=lambda one: one.error)
    comparison = Comparison(tuple(lines), (), {}, wrong, rows, (0,), 1)
    p, best = comparison.against_best(), comparison.best
    for method, (low, high) in comparison.intervals().items():
        assert low <= wrong[method].mean() - best.error + 1e-12
        assert high >= wrong[method].mean() - best.error - 1e-12
        assert (low > 0 or high < 0) == (p[method] <= 0.05)
    assert p[CHANCE] == mcnemar(wrong[best.method], wrong[CHANCE]).p_value  # whatever the number of methods


@given(st.floats(0.001, 100), st.floats(0.8, 3), st.integers(5000, 10**6))
def test_a_power_law_is_carried_on(at_thousand, power, rows):
    times = {size: at_thousand * (size / 1000) ** power for size in (1000, 4000)}
    assert forecast(times, rows) == pytest.approx(at_thousand * (rows / 1000) ** power, rel=1e-6)


@given(st.dictionaries(st.text(max_size=3), st.floats(0.01, 100), max_size=6), st.integers(2, 12), st.floats(0, 500))
def test_plans_keep_to_the_time(costs, asked, budget):
    folds = folds_in_time(costs, asked, budget)
    assert 2 <= folds <= asked
    assert folds * sum(costs[method] for method in affordable(costs, folds, budget)) <= budget + 1e-9


@given(st.lists(st.integers(2, 40), min_size=1, max_size=5), st.integers(0, 3), st.data())
def test_the_first_rows_of_the_order_have_the_classes_in_their_shares(sizes, seed, data):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    order = stratified_order(labels, seed)
    assert sorted(order) == list(range(len(labels)))
    first = data.draw(st.integers(1, len(labels)))
    for label, size in enumerate(sizes):
        assert abs((labels[order[:first]] == label).sum() - first * size / len(labels)) <= len(sizes)


def test_what_is_compiled_first_is_all_that_folds_call(monkeypatch, tmp_path):
    """Code that was compiled for the types of a few rows is called with no other types afterwards."""
    called: set[tuple] = set()

    def noted(code, *args):
        called.add((code.__name__, *map(str, map(typeof, args))))
        return code.machine_code()(*args)

    ours = tuple(name for name, method in METHODS.items() if method.ours)
    data = read_table("breast_cancer", None).data
    Bench.lay_out(data, tmp_path, 0)
    bench = Bench.open(tmp_path, data.rows(np.arange(0)), 0)
    monkeypatch.setattr(Compiled, "__call__", noted)
    with threadpool_limits(1):
        Compile(ours).run(bench)
        first = frozenset(called)
        for method in ours:
            measured(method, bench, Split(bench.order[:400], bench.order[400:]))
    assert called == first


def test_compiling_is_said_and_does_not_count(monkeypatch):
    said = []
    monkeypatch.setattr("suffice.compare.race.run.SHOWN_SECONDS", -1.0)
    found = run(
        ["LDA", CHANCE], seconds=5.0, walls={"compiling": fakes.quick}, watch=lambda found, _: said.append(found.doing)
    )
    assert said[0] == COMPILING
    assert said[-1] == ""
    assert 0 < found.compiling < found.seconds


def test_methods_are_named_and_explained():
    assert choose_methods(("svm", " LDA ")) == (CHANCE, "LDA", "SVM")
    assert choose_methods(("nb", "lda")) == (CHANCE, "NaiveBayes", "LDA")
    assert model_named("nb-calibrated") is model_named("naivebayes + rc") is METHODS["NaiveBayes + RC"]
    with pytest.raises(TableError, match="SVM cannot be written to a model file"):
        model_named("svm")
    assert all(method.about and len(method.about) <= 58 for method in METHODS.values())
    assert all(not method.start or method.start in METHODS for method in METHODS.values())
