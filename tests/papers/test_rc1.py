"""The numbers of rc1 (training error, 64 iterations at rate 0.1) on eight of its data sets."""

from __future__ import annotations

import pytest

from papers.agreement import printed
from papers.datasets import Library
from papers.store import Task
from papers.tables import TABLES
from tests.conftest import DATA

pytestmark = pytest.mark.data

NAMES = ("iris", "diabetes", "haberman", "glass", "vehicle", "magic", "liver disorder", "mammographic")
ML = ("rc1-table2", "rc1-table4", "rc1-table6")  # naive Bayes, QDA, logistic regression


@pytest.mark.parametrize("name", NAMES)
def test_closed_form_and_calibration_are_as_printed(name):
    library, same_iteration = Library(DATA, online=False), 0
    for table in ML:
        tasks = [Task(table, name, method, 0) for method in ("ml", "rc")]
        ours = TABLES[table].measured({task: TABLES[table].run(task, library)[0] for task in tasks})
        theirs = printed(table)
        assert abs(ours[name, "ml_error"] - theirs[name, "ml_error"][0]) <= 0.0015, table
        assert abs(ours[name, "rc_error"] - theirs[name, "rc_error"][0]) <= 0.0015, table
        same_iteration += ours[name, "rc_iter"] == theirs[name, "rc_iter"][0]
    assert same_iteration >= 2


STUCK = ("iris", "glass", "vehicle", "diabetes", "haberman", "liver disorder", "mammographic")


@pytest.mark.parametrize("name", STUCK)
def test_the_rule_of_the_print_gives_its_errors_and_iterations(name):
    """rc1, Table III, whose rule was found on other sets than iris, haberman and the like."""
    table, library, theirs = TABLES["rc1-table3"], Library(DATA, online=False), printed("rc1-table3")
    task = Task(table.name, name, "rc_printed", 0)
    ours = table.measured({task: table.run(task, library)[0]})
    assert abs(ours[name, "rc_printed_error"] - theirs[name, "rc_error"][0]) < 0.0006
    assert ours[name, "rc_printed_iter"] == theirs[name, "rc_iter"][0]
