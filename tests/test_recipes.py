"""The examples of README, guide and CONTRIBUTING run as they stand; the glossary has every name of the interface."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from suffice.data import Data
from suffice.learners import Learner
from suffice.models import Density, Sums

ROOT = Path(__file__).parents[1]
RECIPES = ["check_model", "check_learner", "check_learner", "check_engine"]


def blocks(path):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


PAGES = ["README.md", "docs/growing.md", "docs/guide.md", "docs/learners.md", "docs/plots.md", "CONTRIBUTING.md"]


@pytest.mark.parametrize("path", PAGES)
def test_the_examples_run(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # for the files that they write
    module = ModuleType("examples")  # where pickle finds what the examples define
    monkeypatch.setitem(sys.modules, "examples", module)
    assert blocks(path)
    for example in blocks(path):
        exec(compile(example, path, "exec"), module.__dict__)  # noqa: S102 - our own text


def test_every_recipe_ends_with_its_check():
    assert [re.findall(r"check_\w+(?=\()", recipe)[0] for recipe in blocks("CONTRIBUTING.md")] == RECIPES


@pytest.mark.parametrize("kind", [Density, Sums, Learner, Data], ids=lambda kind: kind.__name__)
def test_every_name_to_implement_is_in_the_glossary(kind):
    explained = set(re.findall(r"`(\w+)", (ROOT / "docs/glossary.md").read_text(encoding="utf-8")))
    own = [base for base in kind.__mro__ if base.__module__.startswith("suffice.") and base.__name__ != "Vector"]
    names = {name for base in own for name in vars(base) if not name.startswith("_")}
    assert names - explained == set()
