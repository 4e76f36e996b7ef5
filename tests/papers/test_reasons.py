"""Reasons: one with a test is given only where it holds, and what was found is said."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from papers.reasons import (
    Case,
    Checked,
    Evidence,
    Why,
    among_starts,
    by_rule,
    chance_of_ends,
    chance_of_splits,
    cut,
    explain,
    longer,
    of_other,
    plateau,
    start_differs,
)
from papers.store import Task
from papers.tables import TABLES


def case(printed=0.2, measured=0.3, ours=None, theirs=None, results=None, column="error", digits=3, near=0.01):
    table = SimpleNamespace(name="t")
    return Case(table, "iris", column, printed, measured, digits, near, ours or {}, theirs or {}, results or {})


def rows(method, values, name="error"):
    return {Task("t", "iris", method, i): {name: value} for i, value in enumerate(values)}


def curve(method, *values, loss="error"):
    return {Task("t", "iris", method, 0): {"curves": {loss: list(values)}}}


YES, NO = (
    Checked(word, lambda _, holds=holds: Evidence(holds, "7 of 9")) for word, holds in (("a", True), ("b", False))
)


def test_the_first_reason_that_holds_is_given():
    assert explain(case(), {("*", "*"): [NO, YES, "inferred one"]}) == Why("tested", "a", "7 of 9")
    assert explain(case(), {("*", "*"): [NO, "inferred one"]}) == Why("inferred", "inferred one")
    assert explain(case(), {("iris", "*"): NO, ("*", "error"): YES}) == Why("tested", "a", "7 of 9")
    assert str(explain(case(), {("*", "*"): YES})) == "tested: a (7 of 9)"


def test_a_reason_that_fails_is_not_given_and_what_it_found_is():
    assert explain(case(), {("*", "*"): NO}) == Why("not explained", "", "7 of 9")
    assert explain(case(), {}) == Why("not explained")
    assert explain(case(), {("*", "*"): Checked("c", lambda _: None)}) == Why("not explained")


def test_a_rule_of_the_print_is_as_printed_or_not():
    test = by_rule("rule_error", "that rule")
    assert test(case(ours={("iris", "rule_error"): 0.201})) == Evidence(True, "0.201 by that rule")
    assert not test(case(ours={("iris", "rule_error"): 0.25})).holds
    assert test(case()) is None


def test_chance_is_that_of_a_difference_of_means():
    values = [0.30, 0.28, 0.32, 0.31, 0.29]  # standard error .0071, of a difference .01
    assert chance_of_splits("m")(case(0.285, results=rows("m", values))).holds
    assert not chance_of_splits("m")(case(0.27, results=rows("m", values))).holds
    assert chance_of_splits("m")(case(results=rows("m", values[:2]))) is None


def test_ends_and_starts_are_ranges():
    ends = {
        Task("t", "iris", "m", i): {"curves": {"soft_error": [0.5] * at + [0.1] + [0.2] * 9}}
        for i, at in enumerate((2, 5, 8))
    }
    assert chance_of_ends("m")(case(4.0, results=ends)).holds
    assert not chance_of_ends("m")(case(30.0, results=ends)).holds
    starts = rows("m", [0.1, 0.4])
    assert among_starts(lambda row: row["error"], "m")(case(0.2, results=starts)).holds
    assert not among_starts(lambda row: row["error"], "m")(case(0.5, results=starts)).holds


def test_a_plateau_is_seen_at_the_iteration_of_the_print():
    flat, steep = curve("gd", 0.3, 0.2005, 0.2), curve("gd", 0.3, 0.25, 0.2)
    assert plateau("gd")(case(2, results=flat)) == Evidence(True, "0.2005 at iteration 2, the least 0.2000")
    assert not plateau("gd")(case(2, results=steep)).holds


def test_numbers_beside_the_print():
    ours, theirs = (
        {("iris", "start"): 0.3, ("iris", "n"): 5.0},
        {("iris", "start"): (0.2, None), ("iris", "n"): (64.0, None)},
    )
    assert start_differs("start")(case(ours=ours, theirs=theirs)).holds
    assert longer("n")(case(ours=ours, theirs=theirs)) == Evidence(True, "64 iterations in print, 5 here")
    assert cut(case(2.0, 2.9)) == Evidence(True, "2.90")
    assert of_other(lambda _: 0.2, "in rc1")(case()) == Evidence(True, "0.2 in rc1")
    assert of_other(lambda _: None, "in rc1")(case()) is None


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_no_number_is_typed_into_a_reason(table):
    for given in table.reasons.values():
        for reason in [given] if isinstance(given, str | Checked) else given:
            text = reason if isinstance(reason, str) else reason.text
            text = text.replace("400 pixels", "").replace("one of 0.1", "")  # the data, and a setting
            assert not re.search(r"(?<![\w-])(\d*\.\d+|\d{2,})", text), text
