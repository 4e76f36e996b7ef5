"""The rules of the house, measured: each figure has a ceiling that may only fall."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

import suffice
from suffice import GaussianNB, QuadraticDiscriminantAnalysis, TabularClassifier
from suffice.learners import RiskCalibration

ROOT = Path(suffice.__file__).parent
CEILINGS = {
    "private entries at the top": 3,
    "own classes of an estimator": 5,
    "modules that one module imports": 38,
    "imports of another folder's private modules": 0,
    "class names that are defined twice": 0,
    "sentences in control flow": 0,
    "hasattr on learners": 0,
    "lines": 45_652,
}
# Turns of translated English that are left in the package and its documentation.
TURNS = {
    r"\banew\b": 0,
    r"\bto be had\b": 0,
    r"\bbut for\b": 0,
    r"\bso many\b": 0,
    r"\bat hand\b": 0,
    r"\btold by\b": 0,
    r"\bthose of which\b": 0,
    r", besides\b": 0,
    r"(?<!there )\bis no (?!longer\b|more than\b)[a-z]+": 0,
}
FILES = {"GaussianNB": 18, "QDA + RC": 25, "TabularClassifier": 38}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of every module, by its dotted name."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def imports() -> dict[str, set[str]]:
    """The modules of the package that each module imports."""
    modules = trees()
    found: dict[str, set[str]] = {}
    for name, tree in modules.items():
        asked = found.setdefault(name, set())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                asked |= {alias.name for alias in node.names if alias.name in modules}
            elif isinstance(node, ast.ImportFrom) and node.module in modules:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    asked.add(inner if inner in modules else node.module)
        asked.discard(name)
    return found


def folder(module: str) -> str:
    """The package that a module stands in; that of a package itself is the package."""
    return module if (ROOT.parent / module.replace(".", "/")).is_dir() else module.rpartition(".")[0]


def private_entries() -> list[str]:
    return [path.name for path in ROOT.iterdir() if path.name.startswith("_") and not path.name.startswith("__")]


def own_classes() -> list[str]:
    chains = [
        [base.__name__ for base in value.__mro__ if base.__module__.startswith("suffice")]
        for name in suffice.__all__
        if isinstance(value := getattr(suffice, name), type) and hasattr(value, "fit")
    ]
    return max(chains, key=len)


def pages_of_others() -> list[str]:
    """Modules that exactly one other module imports: pages of that one rather than modules."""
    times = Counter(target for targets in imports().values() for target in targets)
    return [module for module, count in times.items() if count == 1 and module not in packages()]


def packages() -> set[str]:
    return {module for module in trees() if (ROOT.parent / module.replace(".", "/")).is_dir()}


def private_imports() -> list[str]:
    """Imports of modules `a._b` from outside of the folder `a`, except from the three private folders at the top."""
    found = []
    for module, targets in imports().items():
        for target in targets:
            where, _, last = target.rpartition(".")
            inside = folder(module) == where or folder(module).startswith(f"{where}.")
            if last.startswith("_") and where != "suffice" and not inside:
                found.append(f"{module} -> {target}")
    return found


def repeated_classes() -> list[str]:
    names = Counter(node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return [name for name, count in names.items() if count > 1]


def spoken(node: ast.AST) -> bool:
    """Whether an expression is a literal of several words."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()


def sentences(tree: ast.Module) -> set[str]:
    """The constants of a module that are literals of several words."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
        and any(spoken(one) for one in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]))
    }


def sentences_in_control_flow() -> list[str]:
    """Tests of text against literals, or constants, of several words."""
    of_module = {module: sentences(tree) for module, tree in trees().items()}
    found = []
    for module, tree in trees().items():
        nodes = list(ast.walk(tree))
        known = of_module[module] | {
            alias.asname or alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name in of_module.get(node.module or "", ())
        }
        for node in nodes:
            called = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
            parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            parts += node.args if called in ("startswith", "endswith") else []
            if any(spoken(part) or (isinstance(part, ast.Name) and part.id in known) for part in parts):
                found.append(f"{module}:{node.lineno}")
    return found


def asked_of_learners() -> list[str]:
    """`hasattr` of what learners can do, which they should declare."""
    abilities = {"close", "carry", "unite", "solve", "carry_over", "merge_fits", "exact"}
    return [
        f"{module}:{node.lineno}"
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "hasattr"
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value in abilities
    ]


def lines() -> int:
    """All lines of the package that are not comments."""
    text = (line.strip() for path in ROOT.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines())
    return sum(not line.startswith("#") for line in text)


MEASURES = {
    "private entries at the top": private_entries,
    "own classes of an estimator": own_classes,
    "modules that one module imports": pages_of_others,
    "imports of another folder's private modules": private_imports,
    "class names that are defined twice": repeated_classes,
    "sentences in control flow": sentences_in_control_flow,
    "hasattr on learners": asked_of_learners,
    "lines": lines,
}


def turns(pattern: str) -> list[str]:
    """Where a turn stands in the package, the documentation, the README or CONTRIBUTING.md, across line ends."""
    home = ROOT.parents[1]
    found = []
    for path in [*ROOT.rglob("*.py"), *home.glob("docs/*.md"), home / "README.md", home / "CONTRIBUTING.md"]:
        text = " ".join(path.read_text(encoding="utf-8").split())
        hits = (text[max(0, hit.start() - 30) : hit.end() + 20] for hit in re.finditer(pattern, text, re.IGNORECASE))
        found += [f"{path.relative_to(home)}: ...{hit}..." for hit in hits]
    return found


@pytest.mark.parametrize("pattern", TURNS)
def test_no_turn_of_translated_english_comes_back(pattern):
    found = turns(pattern)
    assert len(found) <= TURNS[pattern], "\n".join(found)


@pytest.mark.parametrize("what", MEASURES)
def test_no_figure_rises(what):
    found = MEASURES[what]()
    count = found if isinstance(found, int) else len(found)
    assert count <= CEILINGS[what], f"{what}: {count} > {CEILINGS[what]}: {found}"


def visited(call) -> set[str]:
    """The files of the package whose functions a call runs."""
    files = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files


def walks():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 4)) + y[:, None]
    frame = pd.DataFrame(X, columns=list("uvwx")).assign(word=np.array(list("abc"))[rng.integers(3, size=400)])
    return {
        "GaussianNB": lambda: GaussianNB().fit(X, y),
        "QDA + RC": lambda: QuadraticDiscriminantAnalysis(learner=RiskCalibration()).fit(X, y),
        "TabularClassifier": lambda: TabularClassifier(n_trees=10, random_state=0).fit(frame, y),
    }


@pytest.mark.parametrize("what", FILES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_goes_through_few_files(what):
    call = walks()[what]
    with parallel_config(n_jobs=1):
        call()  # compiles, and fills caches
        files = visited(call)
    assert len(files) <= FILES[what], sorted(Path(name).relative_to(ROOT).as_posix() for name in files)


if __name__ == "__main__":
    for name, measure in MEASURES.items():
        result = measure()
        print(f"{name}: {result if isinstance(result, int) else len(result)}")
    for name, walk in walks().items():
        walk()
        print(f"files of {name}: {len(visited(walk))}")
    for pattern in TURNS:
        print(f"turns {pattern}: {len(turns(pattern))}")
