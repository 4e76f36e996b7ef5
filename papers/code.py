"""The code of the library that a result depends on: what a module reaches by its imports, as a hash."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import suffice

ROOT = Path(suffice.__file__).parent
DESCRIBED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def digest(module: str) -> str:
    """A hash of a module of the library and of every module that it imports, directly or not, without docstrings.

    >>> digest("suffice.priors") == digest("suffice.losses")
    False
    """
    texts = [f"{name} {_contents(name)}" for name in sorted(reached(module))]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


@cache
def reached(module: str) -> frozenset[str]:
    """The modules of the library that a module depends on, itself included.

    A package that only passes a name on is not among them: the module that defines the name is.

    >>> "suffice.learners.newton" in reached("suffice.learners.newton")
    True
    >>> "suffice.tabular" in reached("suffice.learners.newton")
    False
    """
    found, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += _imported(name)
    return frozenset(found)


def _file(module: str) -> Path | None:
    """The file of a module of the library, or None if there is no such module."""
    head, *rest = module.split(".")
    if head != suffice.__name__:
        return None
    path = ROOT.joinpath(*rest)
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


@cache
def _tree(module: str) -> ast.Module:
    file = _file(module)
    tree = ast.parse(file.read_text(encoding="utf-8") if file is not None else "")
    for node in ast.walk(tree):
        if isinstance(node, DESCRIBED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


@cache
def _contents(module: str) -> str:
    return hashlib.sha256(ast.dump(_tree(module)).encode()).hexdigest()


@cache
def _imported(module: str) -> tuple[str, ...]:
    """The modules of the library that a module imports, anywhere in it."""
    found: list[str] = []
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _file(alias.name)]
        elif isinstance(node, ast.ImportFrom) and node.module and _file(node.module):
            found += [_defining(node.module, alias.name) for alias in node.names]
    return tuple(dict.fromkeys(found))


@cache
def _defining(module: str, name: str) -> str:
    """The module in which a name is defined that can be imported from another one."""
    if _file(f"{module}.{name}"):
        return f"{module}.{name}"
    for source, original, known in _passed_on(module):
        if known == name:
            return _defining(source, original)
    return module


def _passed_on(module: str) -> Iterator[tuple[str, str, str]]:
    """What a module imports from the library: from where, the name there, and the name here."""
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and node.module and _file(node.module):
            yield from ((node.module, alias.name, alias.asname or alias.name) for alias in node.names)
