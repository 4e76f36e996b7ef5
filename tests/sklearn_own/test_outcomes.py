"""docs/scikit-learn.md lists which of scikit-learn's own tests fail here, and why."""

from __future__ import annotations

import re

import pytest
import sklearn

from tests.sklearn_own.run import GROUPS, PAGE, ROWS, count, kind, run, why_not

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def found():
    return run()


def test_the_page_gives_a_reason_for_every_test_that_does_not_pass(found):
    without = [test for test, one in found.items() if kind(one) in ("failed", "message") and why_not(test) is None]
    assert without == []


def test_the_page_gives_no_reason_for_what_passes(found):
    assert [test for test, one in found.items() if kind(one) == "passed" and why_not(test) is not None] == []


def test_the_groups_are_right(found):
    """A test is in the group "message" if only the words of an error differ."""
    assert {group for group, _ in ROWS.values()} <= set(GROUPS)
    for test, one in found.items():
        if kind(one) in ("failed", "message"):
            assert (ROWS[why_not(test)][0] == "message") == (kind(one) == "message"), test


def test_the_counts_of_the_page_are_right_and_every_row_has_a_test(found):
    version = re.search(r"scikit-learn (\d+\.\d+)", PAGE)[1]
    if not sklearn.__version__.startswith(f"{version}."):  # other versions have other tests
        return
    assert {why_not(test) for test in found} - {None} == set(ROWS)
    for line in count(found):
        assert line in PAGE
