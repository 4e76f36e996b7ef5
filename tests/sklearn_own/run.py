"""Run scikit-learn's test modules on the adapters, and read docs/scikit-learn.md, which says why some fail."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scikit-learn.md").read_text()
MODULES = ("sklearn.tests.test_naive_bayes", "sklearn.tests.test_discriminant_analysis")
GROUPS = ("message", "deliberate", "gap")
ROWS = {
    test: (group, why)
    for test, group, why in re.findall(r"^\| `([^`]+)` \| (\w+) \| (.+) \|$", PAGE, flags=re.MULTILINE)
}


def run():
    """Return the outcome of each test, with the error that ended it and any message that did not match."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "outcomes.json"
        paths = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "SUFFICE_OUTCOMES": str(path), "PYTHONPATH": os.pathsep.join(paths)}
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.sklearn_own.plugin", "-c", os.devnull]
        command = [sys.executable, "-m", "pytest", *options, "--rootdir", folder, "--pyargs", *MODULES]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
        if not path.exists():
            raise RuntimeError(done.stdout + done.stderr)
        return json.loads(path.read_text())


def kind(found):
    """Return "passed", "message" (passed except for the words of an error), "failed" or "skipped" (by scikit-learn)."""
    return "message" if found["outcome"] == "passed" and "message" in found else found["outcome"]


def why_not(test):
    """Return the key of a test in the table: its name with all or one of its parameters, its name, or `*` with them."""
    name, _, parameters = test.split("::")[1].partition("[")
    whole = parameters.rstrip("]")
    parts = ["", *whole.split("-"), whole]
    keys = [f"{owner}[{part}]" if part else owner for owner in (name, "*") for part in reversed(parts)]
    return next((key for key in keys if key in ROWS), None)


def count(found):
    """Return the lines of the page with the counts of each module."""
    lines = []
    for module in MODULES:
        tests = {test: one for test, one in found.items() if test.startswith(module.rsplit(".", 1)[1])}
        ran = [test for test, one in tests.items() if kind(one) != "skipped"]
        groups = [ROWS.get(why_not(test) or "", ("", ""))[0] for test in ran if kind(tests[test]) != "passed"]
        numbers = [len(ran), len(ran) - len(groups), *map(groups.count, GROUPS)]
        lines.append(f"| {module.rsplit('.', 1)[1]}.py | {' | '.join(map(str, numbers))} |")
    return lines
