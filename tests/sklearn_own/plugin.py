"""A pytest plugin that makes scikit-learn's test modules import the adapters, and records every outcome.

If an error has the right type and another message, the plugin records that, and the test continues.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from pathlib import Path

import pytest

from tests.sklearn_own import adapters

PLACES = {
    "sklearn.naive_bayes": ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
}
raises = pytest.raises
outcomes: dict[str, dict[str, str]] = {}
current = ""


def pytest_configure(config):
    for module, names in PLACES.items():
        for name in names:
            setattr(importlib.import_module(module), name, getattr(adapters, name))
    pytest.raises = Raises


class Raises:
    """`pytest.raises` that checks the type of an error, and only records a message that does not match."""

    def __init__(self, expected, match=None):
        self.inner, self.match = raises(expected), match

    def __enter__(self):
        self.info = self.inner.__enter__()
        return self.info

    def __exit__(self, *error):
        swallowed = self.inner.__exit__(*error)
        said = str(self.info.value) if swallowed else ""
        if swallowed and self.match is not None and not re.search(self.match, said):
            outcomes.setdefault(current, {})["message"] = f"{self.match} / {said}"
        return swallowed


def pytest_runtest_logstart(nodeid, location):
    global current
    current = f"{Path(location[0]).name}::{nodeid.split('::', 1)[1]}"
    outcomes.setdefault(current, {})


def pytest_runtest_logreport(report):
    found = outcomes[current]
    if report.skipped or (report.when == "call" and report.passed):
        found["outcome"] = report.outcome
    if report.failed:
        found["outcome"], found["error"] = "failed", report.longrepr.reprcrash.message


def pytest_sessionfinish():
    Path(os.environ["SUFFICE_OUTCOMES"]).write_text(json.dumps(outcomes))
