"""The place among published classifiers: ranks against counting, and the page from results."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import uci

pytestmark = pytest.mark.thorough  # small measurements


def counted(table, names=None):
    """Mean ranks by counting who is better and who is level, one cell at a time."""
    rows, found = table.to_dict("records"), {}
    for name in names or table:
        better = [sum(value > row[name] for value in row.values()) for row in rows]
        level = [sum(value == row[name] for value in row.values()) for row in rows]
        found[name] = sum(b + (at + 1) / 2 for b, at in zip(better, level, strict=True)) / len(rows)
    return found


@pytest.fixture
def folder(tmp_path):
    """Three small sets with four splits, and five published classifiers, one of which failed once."""
    rng = np.random.default_rng(0)
    (tmp_path / "sets").mkdir()
    for name in ("iris", "made", "zoo"):
        y = np.repeat([0, 1], 40)
        table = pd.DataFrame(rng.normal(size=(80, 3)) + y[:, None], columns=["f1", "f2", "f3"])
        table["target"] = y
        for split in uci.SPLITS:
            table[split] = rng.permutation(np.repeat([0, 1], [60, 20]))
        table.to_parquet(tmp_path / "sets" / f"{name}.parquet")
    pd.DataFrame({"name": ["iris", "made", "zoo"], "rows": 80, "columns": 3}).to_csv(
        tmp_path / "catalogue.csv", index=False
    )
    accuracy = pd.DataFrame(rng.integers(80, 100, size=(3, 12)) / 1.0, columns=[f"p{i}" for i in range(12)])
    accuracy.iloc[1, 2] = np.nan
    accuracy.insert(0, "set", ["iris", "made", "zoo"])
    accuracy.to_csv(tmp_path / "published.csv", index=False)
    return tmp_path


def test_ranks_are_those_of_counting():
    table = pd.DataFrame(np.random.default_rng(0).integers(70, 75, size=(9, 7)) / 1.0, columns=list("abcdefg"))
    assert uci.mean_ranks(table).to_dict() == pytest.approx(counted(table))


def test_a_failed_program_takes_the_mean_of_the_set(folder):
    theirs = uci.published(folder)
    assert theirs.loc["made", "p2"] == pytest.approx(theirs.loc["made"].drop("p2").mean())


def test_wins_and_losses():
    a, b = pd.Series([3.0, 2.0, 1.0, 5.0]), pd.Series([1.0, 2.0, 2.0, 1.0])
    assert uci.against(a, b)[:3] == (2, 1, 1)
    assert uci.against(a, a) == (0, 0, 4, 1.0)


def test_a_run_goes_on_and_the_page_has_the_places(folder, tmp_path):
    wanted = ["LDA", "NaiveBayes"]
    kept = uci.run(folder, tmp_path / "out", wanted)
    assert len(kept.read()) == 6
    before = kept.path.read_bytes()
    uci.run(folder, tmp_path / "out", wanted)
    assert kept.path.read_bytes() == before
    uci.write_measured(kept, tmp_path / "uci.json")
    told = json.loads((tmp_path / "uci.json").read_text())
    assert set(told["versions"]) == {"suffice", "Python", "NumPy", "scikit-learn"}
    (tmp_path / "docs").mkdir()
    uci.report(folder, told, tmp_path / "docs" / "uci.md")
    page = (tmp_path / "docs" / "uci.md").read_text()
    assert "rank on 1 sets" in page  # iris and zoo are among those that chose settings
    assert (tmp_path / "docs" / uci.FIGURE).stat().st_size > 1000
    mine, failed = uci.ours(told, ["iris", "made", "zoo"], None)
    at = uci.among(uci.published(folder), mine["LDA"])
    assert at["rank"] == pytest.approx(counted(uci.published(folder).assign(ours=mine["LDA"]))["ours"])
    assert f"**{at['rank']:.1f}**" in page
    assert failed == {"LDA": 0, "NaiveBayes": 0}


@pytest.mark.skipif(not uci.FOLDER.exists(), reason="needs the published accuracies")
def test_the_page_has_the_ranks_of_counting():
    told = json.loads(uci.MEASURED.read_text())
    theirs = uci.published(uci.FOLDER)
    mine, _ = uci.ours(told, theirs.index, theirs.mean(axis=1))
    page = uci.PAGE.read_text()
    for method in ("TabularClassifier", "LDA"):
        assert f"| `{method}` | **{counted(theirs.assign(ours=mine[method]), ['ours'])['ours']:.1f}** |" in page
