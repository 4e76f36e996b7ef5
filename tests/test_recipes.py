"""The recipes of CONTRIBUTING.md run as they stand, one after the other."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()


def test_the_recipes_run(monkeypatch):
    recipes = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert [re.findall(r"check_\w+(?=\()", recipe)[0] for recipe in recipes] == [
        "check_model",
        "check_learner",
        "check_engine",
    ]
    module = ModuleType("recipes")  # where pickle finds what the recipes define
    monkeypatch.setitem(sys.modules, "recipes", module)
    for recipe in recipes:
        exec(compile(recipe, "CONTRIBUTING.md", "exec"), module.__dict__)  # noqa: S102 - our own text
