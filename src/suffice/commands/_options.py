"""Options that several commands share."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

PANEL = "How the table is read"


def separator_of(given: str | None) -> str | None:
    """A separator as a shell can give it.

    >>> separator_of("tab") == separator_of(chr(92) + "t") == chr(9)
    True
    """
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(given or "", given)


def names_of(given: list[str] | None) -> list[str] | None:
    """Names of columns, by commas; one that has a comma itself stands in quotes.

    >>> names_of(["a, b", '"c,d",e'])
    ['a', 'b', 'c,d', 'e']
    """
    return given and [name.strip() for row in csv.reader(given, skipinitialspace=True) for name in row]


ModelFile = Annotated[Path, typer.Argument(help="A model file, as `suffice fit` writes it.")]
TableFile = Annotated[str, typer.Argument(help="A CSV, TSV, Parquet or Arrow file, also as .gz.")]
Target = Annotated[str | None, typer.Option("--target", help="The column that holds the classes.")]
ManyClasses = Annotated[
    bool, typer.Option("--many-classes", help="There are more than 100 classes, or few rows of each.")
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        rich_help_panel=PANEL,
        help="A text that means that a value is missing, besides ?, NA, N/A, null, NaN and nothing; may be repeated.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", rich_help_panel=PANEL, help="The decimal point, . or a comma. Default: it is noticed."),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        callback=separator_of,
        rich_help_panel=PANEL,
        help="What stands between values, also tab or space by its name. Default: , ; tab or | is noticed.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        callback=names_of,
        rich_help_panel=PANEL,
        help="Columns of codes, not of numbers, by commas; may be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        callback=names_of,
        rich_help_panel=PANEL,
        help="Columns to leave out, by commas; may be repeated. A name with a comma stands in double quotes.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where the model is written.")]
Instead = Annotated[
    Path | None, typer.Option("--out", "-o", help="Where the model is written, instead of in its own place.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace the file if there is one.")]
