"""The command `suffice`, also as `python -m suffice`."""

import os
import sys

from suffice._runtime import startup_signal as _starting

OUTPUT = "standard output"


def main() -> None:
    """Run the command, or say what to install for it."""
    try:
        from suffice.cli.app import app

        _starting.begun()
        app()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "suffice":
            raise
        sys.exit(f'the command suffice needs {error.name}: pip install ".[cli]" in the folder of suffice')
    except KeyboardInterrupt:  # before or after the command itself
        sys.exit(130)
    except OSError as error:  # of the help and the version: all else is told by the commands
        if os.environ.get("SUFFICE_TRACEBACK") or error.filename not in (None, OUTPUT):
            raise
        sys.exit(f"{OUTPUT}: {error.strerror}")
    finally:
        _flush()


def _flush() -> None:
    """Write what is left to standard output; what cannot be written is dropped, as Python would complain once more."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        ending = error.__context__  # by which the command ended
        if ending is None or getattr(ending, "code", 1) in (0, None):  # nobody has said so yet
            sys.exit(f"{OUTPUT}: {error.strerror}")


if __name__ == "__main__":
    main()
