"""The page of a comparison: its order, one number for one name, one colour for one method, and code that repeats it."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sklearn.datasets import load_iris
from statsmodels.stats.proportion import proportion_confint

from suffice.compare.race.methods import CHANCE, METHODS
from suffice.compare.race.page import ComparisonSettings, colours_of, compare_page, program
from suffice.compare.race.run import Race
from suffice.compare.race.schedule import Findings
from suffice.compare.race.table import read_table
from suffice.compare.race.terminal import show
from suffice.compare.race.verdict import Comparison, Line
from suffice.data.files.reading import Reading
from suffice.model_selection.measures import calibration_error
from suffice.plotting.calibration import wilson
from suffice.report.page import charts
from suffice.report.page.charts import Spot, frontier, scale
from tests.report.test_page import Reader

KINDS = ("NaiveBayes", "CategoricalNB", "LDA", "LDA + RC", "gradient boosting", "LightGBM", "TabularClassifier")
KINDS = tuple(name for name in KINDS if name in METHODS)  # as far as installed


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    rng = np.random.default_rng(1)
    y = np.repeat(["good", "bad"], [70, 50])
    frame = pd.DataFrame({"size": rng.normal(size=120) + (y == "bad"), "holes": rng.normal(size=120)})
    frame["colour"] = np.where(rng.random(120) < 0.3, "red", np.where(y == "bad", "green", "blue"))
    frame.loc[::7, "holes"] = np.nan
    frame.loc[::11, "colour"] = None
    frame["label <b>"] = y
    path = tmp_path_factory.mktemp("tables") / "mixed.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def measured(mixed):
    contest = Race(read_table(str(mixed), "label <b>"), (CHANCE, *KINDS), 3, 0, 300.0)
    found = contest.run(1, winner=lambda found: Comparison.of(found).best.method)
    return contest, found, Comparison.of(found)


@pytest.fixture(scope="module")
def html(measured):
    contest, found, comparison = measured
    return compare_page(comparison, found, contest, ComparisonSettings("label <b>", None, "suffice compare mixed.csv"))


def test_the_parts_stand_in_their_order(html):
    read = Reader(html)
    titles = re.findall(r"<h2>(.*?)</h2>", html)
    assert [title.partition(",")[0] for title in titles] == [
        "How the methods differ",
        "Errors and times",
        "The best here",
        "Are the probabilities right?",
        "Learning",
        "The table",
        "How it was done",
    ]
    assert html.index("verdict") < html.index("How the methods differ")
    for part in ("ROC curve", "Confusions", "Columns that matter", "The best as a program"):
        assert f"<h3>{part}</h3>" in html
    assert read.elements["script"] == 1
    assert len(set(read.ids())) == len(read.ids())
    assert "label &lt;b&gt;" in html


def test_one_number_for_one_name(html, measured):
    comparison = measured[2]
    for line in comparison.lines[:3]:
        assert line.calibration_error == calibration_error(comparison.reliability(line.method))
        assert f"Reliability of {line.method}: calibration error {line.calibration_error:.3f}" in html


def test_a_method_keeps_its_colour(html, measured):
    colours = colours_of(measured[2])
    for method in KINDS:
        shades = re.findall(rf'class="track (s-?\w+)" title="{re.escape(method)}:', html)
        shades += re.findall(rf'class="series dots (s-?\w+)"><title>{re.escape(method)}:', html)
        shades += re.findall(rf'class="series (s-?\w+)" data-series="\d+"><title>{re.escape(method)}:', html)
        assert len(shades) >= 3
        assert set(shades) == {f"s{colours[method]}"}


@pytest.mark.parametrize("method", KINDS[:-1])
def test_the_code_repeats_the_numbers(measured, method, capsys):
    contest, found, _ = measured
    code = program(METHODS[method], found, contest, ComparisonSettings("label <b>"))
    exec(code, {})  # noqa: S102 - our own
    errors = [float(value) for value in capsys.readouterr().out.strip("[]\n").split()]
    assert errors == pytest.approx([found.results[method, fold]["error"] for fold in found.done(method)], abs=1e-7)


def test_the_code_reads_the_file_as_the_comparison_did(tmp_path, rng, capsys):
    y = np.where(rng.random(90) < 0.5, "s\u00fc\u00df", "bitter")
    frame = pd.DataFrame({"gr\u00f6\u00dfe": rng.normal(size=90) + (y == "bitter"), "code": rng.integers(0, 3, 90)})
    frame["when"] = pd.Timestamp("2021-05-01") + pd.to_timedelta(rng.integers(0, 200, 90), "D")
    frame["yes"], frame["art"] = rng.random(90) < 0.5, y
    text = frame.to_csv(index=False, sep=";", decimal=",").replace("2021-05-02", "none").replace("True", "none", 1)
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode("cp1252"))
    contest = Race(read_table(str(path), "art", Reading(na=("none",), categorical=("code",))), ("LDA",), 3)
    found = contest.run()
    assert not found.failures
    exec(program(METHODS["LDA"], found, contest, ComparisonSettings("art")), {})  # noqa: S102 - our own
    errors = [float(value) for value in capsys.readouterr().out.strip("[]\n").split()]
    assert errors == pytest.approx([found.results["LDA", fold]["error"] for fold in range(3)], abs=1e-7)


def test_the_code_for_a_sample_of_an_embedded_table(capsys):
    rows = np.arange(0, 150, 3)
    read = read_table("iris", None)
    contest = Race(read, ("LDA",), 3, 5)
    code = program(METHODS["LDA"], Findings(contest.methods, contest.folds, 150), contest, ComparisonSettings(None, 60))
    space = {}
    exec(code, space)  # noqa: S102 - our own
    assert space["X"].shape == (60, 4)
    assert np.unique(space["y"], return_counts=True)[1].tolist() == [20, 20, 20]
    assert space["model"].score(load_iris(as_frame=True).data.iloc[rows], load_iris().target_names[rows // 50]) > 0.9
    assert len(capsys.readouterr().out.strip("[]\n").split()) == 3


def test_trees_draw_categories_by_their_text(measured):
    contest, found, _ = measured
    said = "# categories are text here and were numbers there: trees that draw them differ a little"
    assert said in program(METHODS["TabularClassifier"], found, contest, ComparisonSettings("label <b>"))
    assert said not in program(METHODS["NaiveBayes"], found, contest, ComparisonSettings("label <b>"))


def test_a_page_of_nothing_and_of_little(measured):
    contest, found, _ = measured
    nothing = Findings(found.methods, 3, found.rows, skipped={"LDA": "there was no time"})
    made = compare_page(Comparison.of(nothing), nothing, contest, ComparisonSettings())
    Reader(made)
    assert "LDA left out: there was no time" in made
    assert "nothing to compare" in made


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (3, 7), (19, 20), (500, 1000)])
def test_intervals_of_shares(right, n):
    assert wilson(np.array(right / n), np.array(n)) == pytest.approx(
        proportion_confint(right, n, method="wilson"), abs=1e-7
    )


def test_the_frontier_is_what_nothing_beats(rng):
    spots = [Spot(str(i), *rng.integers(1, 9, 2)) for i in range(40)]
    kept = {spot.name for spot in frontier(spots)}
    for spot in spots:
        beaten = any(
            (other.x <= spot.x and other.y <= spot.y) and (other.x, other.y) != (spot.x, spot.y) for other in spots
        )
        assert not (spot.name in kept and beaten)
        if not beaten:
            assert any((o.x, o.y) == (spot.x, spot.y) for o in spots if o.name in kept)


def test_what_goes_beyond_a_scale_has_a_mark():
    dots = [charts.Dot("cut", 5.0, 4.0, 30.0), charts.Dot("out", 40.0, 30.0, 50.0), charts.Dot("in", 4.5, 4.2, 5.0)]
    made = charts.dot_plot(dots, "Errors", 10.0, 4.0, None)
    rows = re.findall(r"<tr>.*?</tr>", made)[:3]
    assert [row.count('class="beyond"') for row in rows] == [1, 1, 0]
    assert [row.count('class="dot"') for row in rows] == [1, 0, 1]
    made = charts.scatter([Spot("a", 1.0, 5.0), Spot("b", 2.0, 60.0), Spot("c", 3.0, 9.0)], "t", "x", "y", 10.0)
    assert made.count('class="up"') == 1
    assert made.count("<circle") == 2
    assert re.search(r"b: 2 s, 60.00 %</title><path", made)


@given(st.floats(0, 90), st.floats(0.001, 60))
def test_a_scale_of_errors_has_at_least_four_ticks_where_it_is_asked_for(low, width):
    ends = scale([low, low + width], 0.0, 100.0, snug=True, least=4)
    assert len(ends.ticks) >= 4
    assert all(low <= tick <= low + width for tick in ends.ticks)


def test_one_of_a_thing_is_singular():
    line = Line("LDA", 0.10, None, None, None, None, None, 0.0, 0.0, 1)
    other = replace(line, method="QDA", error=0.11)
    wrong = {"LDA": (np.arange(100) < 10), "QDA": np.arange(100) < 11}
    said = " ".join(Comparison((line, other), (), {}, wrong, 100, (0,), 1).verdict())
    assert "1 point less than QDA" in said
    assert "QDA, the only other method, cannot be told from LDA on 100 rows" in said
    assert not re.search(r"\b1 (points|folds|rows|other methods)", said)


def test_many_classes_are_shown_by_the_pairs_confused_most():
    counts = np.diag([10] * 20)
    counts[3, 7], counts[5, 1] = 9, 4
    made = charts.confusion(counts.tolist(), [f"c{i}" for i in range(20)], "Confusions")
    assert made.index(">c7<") < made.index(">c1<")
    assert made.count("<tr") == 1 + 2
    assert charts.confusion([[3, 1], [0, 2]], ["<a>", "b"], "c").count("<td class") == 4


def test_the_page_the_table_and_the_verdict_say_what_each_method_was_given(html, measured):
    _, found, comparison = measured
    kinds = {"native categories": ("NaiveBayes", "gradient boosting", "LightGBM", "TabularClassifier")}
    kinds |= {"one-hot, imputed": ("LDA", "LDA + RC"), "five bins, imputed": ("CategoricalNB",)}
    table = html[html.index("<caption>Methods, best first") :]
    rows = dict(
        re.findall(r">([^<>]+)(?:<sup[^>]*>[^<]*</sup>)*</(?:span|strong)></th>.*?<td>([^<]*)</td></tr>", table)
    )
    assert rows == {method: words for words, methods in kinds.items() for method in methods if method in KINDS} | {
        CHANCE: ""
    }
    console = Console(width=120, record=True, file=io.StringIO())
    show(comparison, found, console)
    shown = console.export_text()
    for word, methods in zip(("native", "one-hot", "bins"), kinds.values(), strict=True):
        for method in set(methods) & set(KINDS):
            assert re.search(rf"^{re.escape(method)}[ *\u2020]+{word} ", shown, re.MULTILINE)
    for said in (shown, html):
        assert "No method is tuned" in said
        assert "one-hot columns, and medians for missing numbers (LDA" in " ".join(said.split())


def test_a_table_of_numbers_alone_has_nothing_to_be_given_differently():
    contest = Race(read_table("iris", None), (CHANCE, "LDA", "GaussianNB"), 3, 0, 300.0)
    found = contest.run(1)
    comparison = Comparison.of(found)
    made = compare_page(comparison, found, contest, ComparisonSettings())
    assert "one-hot" not in made.split("The best as a program")[0]
    assert comparison.verdict()[-1] == "No method is tuned: each has its default settings."


def test_the_verdict_says_what_the_test_shows():
    line = Line("LDA", 0.1, None, None, None, None, None, 0.0, 0.0, 1)
    lines = (line, replace(line, method="QDA", error=0.12))
    flags = np.zeros(1000, dtype=bool)
    wrong = {"LDA": flags.copy(), "QDA": flags.copy()}
    wrong["LDA"][:100] = wrong["QDA"][60:180] = True  # p = 0.11
    said = Comparison(lines, (), {}, wrong, 1000, (0,), 1).verdict()
    assert said[0].startswith("LDA has the fewest rows wrong: 10.0 %, 2 points less than QDA. These rows do not tell")
    wrong["QDA"][:] = wrong["LDA"]
    wrong["QDA"][100:120] = True
    said = Comparison(lines, (), {}, wrong, 1000, (0,), 1).verdict()
    assert said[0].endswith("These rows tell the two apart (p < 0.001).")
