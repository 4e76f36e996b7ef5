"""Commands as a user types them, run in this process."""

from functools import cache

import typer.testing
from typer.main import get_command
from typer.testing import CliRunner

# A parser is made from the signatures of all commands, which takes longer than most commands: each app makes it once.
typer.testing._get_command = cache(get_command)


def run(app, *words, code=0, **environment):
    """Return the result of a command, which must end with this exit code and without a traceback."""
    result = CliRunner(env={"TERM": "dumb", **environment}).invoke(app, [str(word) for word in words])
    assert "Traceback" not in result.output
    assert result.exit_code == code, (result.output, result.exception)
    return result


def spoken(result):
    """Return what a command says, in one line."""
    return " ".join(result.output.split())
