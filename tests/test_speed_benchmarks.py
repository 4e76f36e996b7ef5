"""The benchmarks of speed: figures from pairs, floors and what falls below them, slopes, memory, and the page."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import check, growth, mnist, page, speed
from benchmarks.check import Floor, verdicts
from benchmarks.growth_figures import picture
from benchmarks.memory import beyond
from benchmarks.speed import How
from benchmarks.timing import Case, Figure, Told, measure

FIGURE = Figure("9 x 2", "GaussianNB fit", "GaussianNB", ours=1.0, theirs=4.0, ratio=4.0, least=3.0, most=5.0, target=3)
OTHER = replace(FIGURE, what="CategoricalNB fit", ratio=10.0, least=9.9)
HOW = How({"small": 1.0}, threads=1, repeat=5)


def case(ours, theirs, kind=Case):
    return kind("9 x 2", "GaussianNB fit", "GaussianNB", ours, theirs, 3.0)


def ticking(*ticks):
    """A clock that shows these times, one after the other."""
    times = iter(np.cumsum(ticks))
    return lambda: next(times)


def test_a_figure_is_the_median_of_the_ratios_of_pairs():
    called = []
    clock = ticking(0, 1, 0, 2, 0, 2, 0, 2, 0, 1, 0, 5)  # ours 1, 2, 1 and the peer's 2, 2, 5 seconds
    found = measure(case(lambda: called.append("a"), lambda: called.append("b")), 3, clock)
    assert called == ["a", *"ab" * 3]  # the first may compile
    assert (found.ours, found.theirs, found.ratio, found.least, found.most, found.pairs) == (1, 2, 2, 1, 5, 3)


def test_short_calls_are_timed_after_others_of_their_kind(monkeypatch):
    monkeypatch.setattr("benchmarks.timing.BUSY", 0.01)
    called = []
    measure(case(lambda: called.append("a"), lambda: called.append("b")), 2, ticking(*[0, 1e-3] * 4))
    assert "".join(called[:3]) == "aab"  # the first pair says how long they take
    assert re.fullmatch("aaba{3,}b{3,}", "".join(called))


def test_patience_ends_a_case_but_not_before_there_are_a_few_pairs():
    found = measure(case(lambda: None, lambda: None), 50, ticking(*[1] * 200), patience=0.0)
    assert found.pairs == 3


def test_a_call_may_say_itself_what_it_took():
    found = measure(case(lambda: 100.0, lambda: 300.0, Told), 3, lambda: 0.0)
    assert (found.ours, found.theirs, found.ratio) == (100.0, 300.0, 3.0)


def test_the_noise_of_a_floor_is_that_of_its_run_within_bounds():
    assert Floor.of(replace(FIGURE, least=2.8)) == Floor(4.0, 0.3)
    assert Floor.of(OTHER) == Floor(10.0, 0.25)
    assert Floor.of(replace(FIGURE, least=0.1)) == Floor(4.0, 0.4)
    assert Floor(4.0, 0.25).lowest == 3.0


def test_what_is_below_its_floor_by_more_than_the_noise_fell():
    floors = {FIGURE.name: Floor(4.0, 0.25), OTHER.name: Floor(10.0, 0.15)}
    for ratio, fell in ((3.01, False), (2.99, True), (8.0, False)):
        found = verdicts([replace(FIGURE, ratio=ratio), OTHER], floors)
        assert {v.name: v.fails for v in found} == {FIGURE.name: fell, OTHER.name: False}
    assert verdicts([OTHER, replace(FIGURE, ratio=1.0)], floors)[0].name == FIGURE.name  # what fails comes first


def test_of_a_case_measured_twice_the_better_one_counts():
    floors = {FIGURE.name: Floor(4.0, 0.25)}
    (found,) = verdicts([replace(FIGURE, ratio=1.0), replace(FIGURE, ratio=3.9)], floors)
    assert (found.ratio, found.said) == (3.9, "holds")


def test_new_cases_pass_and_lost_ones_fail():
    lost, new = verdicts([FIGURE], {OTHER.name: Floor(1.0, 0.15)})
    assert (lost.fails, new.fails) == (True, False)
    assert "not measured any more" in lost.said
    assert "without a floor" in new.said


@pytest.fixture
def measured(monkeypatch):
    """What the next runs measure, in the place of all cases."""
    runs = []

    def figures(self, wanted, say):
        cases = {f.name: f for f in runs.pop(0)}
        return [f for f in cases.values() if wanted(replace(case(None, None), what=f.what, data=f.data))]

    monkeypatch.setattr(How, "figures", figures)
    return runs


def test_the_check_fails_with_a_table_of_what_fell(measured, tmp_path, capsys):
    floors = tmp_path / "floors.json"
    measured += [[FIGURE, OTHER]]
    assert check.main(["--write-floors", "--threads", "1", "--cpu", "--floors", str(floors)]) == 0
    how, read = check.read(floors)
    assert (how.threads, how.cpu, set(read)) == (1, True, {FIGURE.name, OTHER.name})
    assert "wide-quadratic" not in how.groups
    measured += [[FIGURE, OTHER]]
    assert check.main(["--floors", str(floors)]) == 0
    assert "all 2 hold" in capsys.readouterr().out
    slow = replace(OTHER, ratio=2.0)
    measured += [[FIGURE, slow], [FIGURE, slow]]
    assert check.main(["--floors", str(floors)]) == 1
    said = capsys.readouterr()
    assert "1 of 2 fell" in said.out
    assert "once more: 1 that fell" in said.err
    measured += [[FIGURE, slow], [FIGURE, OTHER]]  # the second time it holds: the machine was busy
    assert check.main(["--floors", str(floors)]) == 0
    assert not measured


def test_without_floors_the_check_says_how_to_write_them(tmp_path):
    with pytest.raises(SystemExit, match="write them with --write-floors"):
        check.main(["--floors", str(tmp_path / "none.json")])


def test_the_committed_floors_are_of_groups_that_there_are():
    how, floors = check.read(check.FLOORS)
    assert set(how.groups) <= set(speed.GROUPS)
    assert all(check.NOISE[0] <= floor.noise <= check.NOISE[1] for floor in floors.values())


def points(power, base=1e-6, memory=5e6):
    return [
        growth.Point("n", "GaussianNB", call, n, 10, 3, base * n**power, 2 * base * n, memory, memory)
        for call in growth.CALLS
        for n in (1000, 100, 10_000)
    ]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_slopes_are_powers(power):
    fit, predict = growth.lines(points(power))
    assert fit.slopes == pytest.approx((power, 1.0))
    assert predict.sizes == (100, 1000, 10_000)
    assert fit.ratio == pytest.approx(2 * 1e4 ** (1 - power))


def test_rows_to_grow_are_those_asked_for():
    X, y = growth.drawn(5000, 7, 4, codes=False)
    assert X.shape == (5000, 7)
    assert set(y) == set(range(4))
    codes, _ = growth.drawn(5000, 7, 4, codes=True)
    assert set(np.unique(codes)) == set(range(growth.CELLS))


def test_slopes_stand_in_the_figure():
    figure = picture(growth.lines(points(1.0)))
    (panel,) = (ax for ax in figure.axes if ax.get_visible())
    assert panel.get_xscale() == panel.get_yscale() == "log"
    assert "fit 1.00 | 1.00" in panel.texts[0].get_text()


def test_memory_beyond_what_is_there_is_that_of_the_call():
    before = np.ones(10**7)  # 80 MB that do not count
    taken, found = beyond(lambda: (before + 1.0)[:5].copy())
    assert found.tolist() == [2.0] * 5
    assert 70e6 < taken < 110e6


def test_the_identity_has_the_same_share_in_every_class_of_digits():
    rng = np.random.default_rng(0)
    y = np.repeat([3, 5], [40, 400])
    X = rng.normal(size=(440, 3))
    model = mnist.ours(0.2, y).fit(X, y)
    for found, c, n in zip(model.covariance_, (3, 5), (40, 400), strict=True):
        own = np.cov(X[y == c].T, bias=True) * n / (n + 1)
        np.testing.assert_allclose(found - own, 0.2 * np.eye(3), atol=1e-10)


def test_what_is_chosen_for_digits_is_best_on_rows_held_out(monkeypatch):
    monkeypatch.setattr(mnist, "LEARNED", 300)
    monkeypatch.setattr(mnist, "HELD", 100)
    y = np.arange(400) % 2
    X = np.random.default_rng(0).normal(size=(400, 2)) + 3 * y[:, None]
    y[300:] = 0  # test rows, which have no say

    class Threshold:
        def __init__(self, at, _):
            self.at = at

        def fit(self, X, y):
            return self

        def predict(self, X):
            return (X.sum(axis=1) > self.at).astype(int)

    assert mnist.choose(mnist.Method(Threshold, "at", (-9.0, 3.0, 99.0)), X, y) == 3.0


def test_the_page_says_what_was_measured(tmp_path):
    told = {"how": vars(HOW), "figures": [vars(FIGURE), vars(replace(OTHER, ratio=2.0))]}
    (tmp_path / "speed.json").write_text(json.dumps(told))
    grown = {"how": {"threads": 2, "cpu": False}, "points": [vars(point) for point in points(1.0)]}
    (tmp_path / "growth.json").write_text(json.dumps(grown))
    digits = mnist.Result("QDA", "share 0.05", 0.0437, 0.6334, fit=2.5, predict=0.5, memory=3e8, passes=1)
    (tmp_path / "mnist.json").write_text(json.dumps({"how": grown["how"], "results": [vars(digits)]}))
    text = page.text(tmp_path)
    assert "| QDA | share 0.05 | 4.37 % | 0.633 | 2.5 s | 500 ms | 300 MB |" in text
    assert "| GaussianNB fit | 9 x 2 | GaussianNB | 1 s | **4.00** | 3.00 - 5.00 | 3 |" in text
    assert "| **2.00** | 9.90 - 5.00 | 3 (missed) |" in text
    assert "| rows: 100 to 10,000 | peer | slope |" in text
    assert "| **1.00** | 1.00 | 1.00 | 10 ms | 2.0 | 5 to 5 MB |" in text
    assert page.replaced(f"a\n{page.BEGIN} old {page.END}\nb", text) == f"a\n{text}\nb"


def test_the_committed_page_is_that_of_the_committed_figures():
    assert page.text() in page.PAGE.read_text()
