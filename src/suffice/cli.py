"""The command `suffice`."""

from __future__ import annotations

from typing import Annotated

import typer

import suffice
from suffice.report.command import compare
from suffice.report.console import out

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Classifiers learned from sufficient statistics.")


def _version(asked: bool) -> None:
    if asked:
        out.print(suffice.__version__, highlight=False)
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Classifiers learned from sufficient statistics."""


app.command("compare")(compare)
