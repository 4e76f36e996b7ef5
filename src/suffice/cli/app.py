"""The command `suffice`."""

from __future__ import annotations

from typing import Annotated

import typer

import suffice
from suffice.cli import change, compare, evaluate, explain, fit, inspect, predict
from suffice.cli.console import Commands, register
from suffice.report.console import out

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Classifiers learned from sufficient statistics.",
)
register(app, fit.fit, fit.EXAMPLES)
register(app, predict.predict, predict.EXAMPLES)
register(app, evaluate.evaluate, evaluate.EXAMPLES)
register(app, inspect.inspect, inspect.EXAMPLES)
register(app, explain.explain, explain.EXAMPLES)
register(app, change.merge, change.MERGE_EXAMPLES)
register(app, compare.compare, compare.EXAMPLES)
for one in change.CHANGES:
    register(app, change.command(one), [one.example])


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
