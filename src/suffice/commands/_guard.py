"""How commands end when something is wrong: a sentence and an exit code, never a traceback."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import typer
from typer.core import TyperGroup

from suffice.report.console import err, reader_gone, stop

TRACEBACK = "SUFFICE_TRACEBACK"  # set it to see where a fault is


class Commands(TyperGroup):
    """Commands of which none ends in a traceback.

    Exit codes: 0 done, 1 nothing useful or a fault, 2 bad input, 130 interrupted, 141 nobody reads on.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            err.print("\ninterrupted: nothing was written", style="red")
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise reader_gone() from None
        except (ValueError, TypeError, OSError, MemoryError, np.linalg.LinAlgError) as error:
            if os.environ.get(TRACEBACK):
                raise
            raise stop(_sentence(error)) from None
        except Exception as error:
            if os.environ.get(TRACEBACK) or _ends(error):
                raise
            err.print(
                f"suffice failed, which it should not: {type(error).__name__}: {error}. {TRACEBACK}=1 shows where",
                style="red",
                markup=False,
                highlight=False,
            )
            raise typer.Exit(1) from None


def _ends(error: Exception) -> bool:
    """Whether it is one of those by which a command ends in order, or the words of the user cannot be read."""
    return isinstance(error, typer.Abort) or hasattr(error, "exit_code")


def register(app: typer.Typer, command: Callable[..., None], examples: Iterable[str]) -> None:
    """Make a function a command: its help are its docstring, a line for each paragraph, and examples."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    words = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(help=words, epilog="\n\n".join(["Examples:", *examples]))(command)


def _sentence(error: BaseException) -> str:
    """What is wrong, in one paragraph."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
