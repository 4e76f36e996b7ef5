"""The papers use public names of the library only."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import papers


def private(name):
    return name.startswith("_") and not name.endswith("__")


def test_imports():
    found = set()
    for path in Path(papers.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            hidden = isinstance(node, ast.ImportFrom) and any(private(alias.name) for alias in node.names)
            found |= {
                name for name in names if name.startswith("suffice") and (hidden or any(map(private, name.split("."))))
            }
    assert not found


def test_overridden_methods():
    modules = [import_module(m.name) for m in walk_packages(papers.__path__, "papers.") if "__main__" not in m.name]
    classes = {one for module in modules for _, one in inspect.getmembers(module, inspect.isclass)}
    found = {
        f"{one.__name__}.{name}"
        for one in classes
        if one.__module__.startswith("papers")
        for name, value in vars(one).items()
        if private(name)
        and callable(value)
        and any(name in vars(base) for base in one.__mro__ if base.__module__.startswith("suffice"))
    }
    assert not found
