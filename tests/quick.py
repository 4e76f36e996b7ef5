"""The inner loop (`make quick`): doctests, every law on one example, and the tests of the files that have changed.

Changed files are those that differ from the last commit or, if there are none, those that the last commit changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = ["src/suffice/_core", "src/suffice/models", "src/suffice/learners", "tests/test_architecture.py"]
LAWS = "tests/test_laws.py"


def changed() -> list[Path]:
    """Return the files that differ from the last commit, or those that it changed."""

    def git(*words: str) -> list[Path]:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
        return [Path(line) for line in done.stdout.splitlines()]

    new = git("ls-files", "--others", "--exclude-standard")
    return git("diff", "--name-only", "HEAD") + new or git("diff", "--name-only", "HEAD~1")


def tests_of(path: Path) -> list[str]:
    """Return the tests of a file: itself, its mirror folder, or the test files of the same name."""
    if path.parts[0] == "tests":
        return [str(path)] if path.name.startswith("test_") and (ROOT / path).exists() else []
    if path.parts[:2] != ("src", "suffice") or path.suffix != ".py":
        return []
    name = path.parts[2].removesuffix(".py").strip("_")
    found = [ROOT / "tests" / name, *(ROOT / "tests").glob(f"test_{name}*.py")]
    return [str(one.relative_to(ROOT)) for one in found if one.exists()]


def main() -> int:
    wanted = dict.fromkeys([*ALWAYS, LAWS, *(test for path in changed() for test in tests_of(path))])
    os.environ["SUFFICE_LAWS"] = "quick"
    print("make quick:", *wanted, flush=True)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", *wanted], cwd=ROOT
    ).returncode


if __name__ == "__main__":
    raise SystemExit(main())
