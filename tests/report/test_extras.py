"""What is optional: imported only where it is needed, and asked for in one sentence where it is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from suffice.compare import critical_difference_figure, nemenyi
from suffice.plotting import CalibrationDisplay

OPTIONAL = ("typer", "matplotlib", "pyarrow", "polars", "pandas")


def test_the_library_needs_nothing_optional():
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL})); import suffice, suffice.compare, suffice.plotting"
    )
    path = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=path)


@pytest.mark.parametrize("package", ["typer", "rich", "pyarrow"])
def test_the_command_says_what_to_install(package, monkeypatch):
    from suffice.__main__ import main

    parts = tuple(f"suffice.{part}" for part in ("cli", "commands", "report", "tables"))
    for name in [name for name in sys.modules if name.startswith(parts)]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as end:
        main()
    assert str(end.value).startswith(f"the command suffice needs {package}")
    assert str(end.value).endswith('pip install ".[cli]" in the folder of suffice')


def test_figures_say_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"] or ["matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    ranks = nemenyi([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5], [0.8, 0.9, 0.6]], higher_is_better=True)
    draws = (lambda: critical_difference_figure(ranks), lambda: CalibrationDisplay.from_predictions([0, 1], [0.2, 0.7]))
    for draw in draws:
        with pytest.raises(
            ImportError, match=r'this needs matplotlib: pip install ".\[plot\]" in the folder of suffice'
        ):
            draw()
