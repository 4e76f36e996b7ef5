"""The command `suffice`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import suffice
from suffice.cli import change, compare, fit, inspect, predict
from suffice.cli.console import Commands, register
from suffice.report.console import out

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Classifiers learned from sufficient statistics.",
)
COMMANDS: list[Callable[..., None]] = [
    fit.fit,
    predict.predict,
    predict.evaluate,
    inspect.inspect,
    inspect.explain,
    change.merge,
    compare.compare,
]
for command in (*COMMANDS, *map(change.command, change.CHANGES)):
    register(app, command)


def _version(asked: bool) -> None:
    if asked:
        out.print(suffice.__version__, highlight=False)
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Classifiers learned from sufficient statistics."""
