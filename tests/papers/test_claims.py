"""Verdicts: every claim is decided by results, and identities of the documents are checked by computing them."""

from __future__ import annotations

import numpy as np
import pytest

from papers import claims
from papers.agreement import printed
from papers.claims import CLAIMS, Claim, Finding, Measured, Verdict, judge, tally
from papers.documents import DOCUMENTS
from papers.store import Task
from papers.tables import TABLES

NOTHING = Measured({})
IMAGES = ("catsvsdogs", "cifar10", "fashion mnist", "mnist", "yearbook")


def test_records_are_whole():
    for claim in CLAIMS:
        assert claim.document in DOCUMENTS
        assert claim.place
        assert claim.says[0].isupper()
        assert not claim.says.endswith(".")
        assert claim.printed
        for name in claim.test.strip("`").removeprefix("python -m papers run ").split():
            assert name in TABLES or name.startswith(("tests/", "papers."))


def test_without_results_nothing_is_decided_but_what_is_computed():
    judged = judge({})
    assert {one.verdict for one in judged} == {Verdict.PENDING, Verdict.HOLDS, Verdict.IN_PART, Verdict.OPEN}
    assert tally(judged).startswith(f"{len(CLAIMS)} claims: holds ")
    computed = [one for one in judged if one.verdict in (Verdict.HOLDS, Verdict.IN_PART)]
    assert all(one.ours for one in computed)


@pytest.mark.parametrize("identity", [claims.proposition_one, claims.tm_is_rate_one, claims.same_plane])
def test_identities_hold(identity):
    assert identity(NOTHING).verdict == Verdict.HOLDS


def test_the_mass_stays_where_nothing_is_frozen():
    assert claims.mass_stays(NOTHING) == Finding(Verdict.IN_PART, claims.mass_stays(NOTHING).ours)


def results(errors, table="rc1-table2", methods=("ml", "rc", "gd")):
    """Results of a table from errors by data set and method."""
    return {
        Task(table, name, method, 0): {"error": value, "curves": {"error": [value]}}
        for name, row in errors.items()
        for method, value in zip(methods, row, strict=True)
    }


def test_a_share_of_data_sets_decides():
    decide = claims.improves("rc1-table2", "ml", "gd", (27, 27))
    names = list(TABLES["rc1-table2"].datasets)[:10]
    found = decide(Measured(results(dict.fromkeys(names, (0.3, 0.1, 0.2)))))
    assert found == Finding(Verdict.HOLDS, "10 of 10, on 10 of these below GD; means 0.300, 0.100 and 0.200 (GD)")
    mixed = {name: (0.3, 0.1, 0.05 if i < 4 else 0.2) for i, name in enumerate(names)}
    assert decide(Measured(results(mixed))).verdict == Verdict.IN_PART
    assert decide(Measured(results(dict.fromkeys(names, (0.3, 0.3, 0.2))))).verdict == Verdict.NOT
    assert decide(NOTHING) is None


def test_a_lower_mean_is_needed():
    decide = claims.lower(5, "test", "gd", 16)
    names = list(TABLES["rc2-table5"].datasets)[:4]

    def of(rc, gd):
        return {
            Task("rc2-table5", name, method, 0): {"error": error, "train_error": 0.0}
            for name in names
            for method, error in (("rc", rc), ("gd", gd))
        }

    assert decide(Measured(of(0.1, 0.2))).verdict == Verdict.HOLDS
    assert decide(Measured(of(0.2, 0.1))).verdict == Verdict.NOT
    assert "0 of 4 lower, 4 higher; means 20.0 and 10.0 %" in decide(Measured(of(0.2, 0.1))).ours


def test_a_decision_that_is_not_made_is_pending():
    claim = Claim("rc1", "x", "Something", "1", lambda _: None, "`python -m papers run rc1-table2`")
    judged = claims.Judged(claim, *(claim.decide(NOTHING) or Finding(Verdict.PENDING, "")))
    assert judged.verdict == "not measured yet"


# The print against its own tables


def column(table, name):
    return {row: value for (row, at), (value, _) in printed(table).items() if at == name}


def test_calibration_is_below_descent_on_24_sets_of_table_vii():
    rc, gd, start = (column("rc1-table7", name) for name in ("rc_error", "gd_error", "map_error"))
    better = [name for name in rc if rc[name] < start[name]]
    assert len(better) == 29
    assert sum(rc[name] < gd[name] for name in better) == 24  # V-A says 25
    assert sum(rc[name] == gd[name] for name in better) == 4


def test_the_mean_reach_of_table_iii_is_4():
    found = [value for value in column("rc1-table3", "reach").values() if value is not None]
    assert round(np.mean(found)) == 4  # V-A says 5


def test_nb_gnb_is_not_below_nb_in_the_printed_table():
    nb, gnb = (column("nblr-table2", name) for name in ("NB", "NB-GNB"))
    assert round(np.mean(list(nb.values())), 2) == 81.59
    assert round(np.mean(list(gnb.values())), 2) == 81.92


def test_the_printed_table_iii_has_21_improvements():
    rc, gd, start = (column("rc1-table3", name) for name in ("rc_error", "gd_error", "map_error"))
    better = [name for name in rc if rc[name] < start[name]]
    assert len(better) == 21
    assert sum(rc[name] < gd[name] for name in better) == 18
    assert set(IMAGES) <= set(rc)
