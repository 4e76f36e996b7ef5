"""The page "Which one?": every number in it stands on the page that its line names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NUMBER = re.compile(r"(?<![\w.])\d*\.\d+")
LINES = [line for line in (DOCS / "which-one.md").read_text().splitlines() if line.startswith("| ") and ".md)" in line]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[2:50])
def test_a_line_rests_on_a_row_that_was_measured(line):
    _, _, _, measured, see, _ = (cell.strip() for cell in line.split("|"))
    page = (DOCS / re.search(r"\((.+?\.md)\)", see).group(1)).read_text()
    there = {number.lstrip("0") for number in NUMBER.findall(page)}
    assert {number.lstrip("0") for number in NUMBER.findall(measured)} <= there
    assert "`make " in see or "`python -m papers run " in see


def test_there_are_lines_where_others_are_better():
    assert (
        sum("**boosting**" in line or "**logistic regression**" in line or "**trees**" in line for line in LINES) >= 4
    )
