"""The command `suffice`, also as `python -m suffice`."""

import os
import sys

from suffice._runtime import startup_signal

OUTPUT = "standard output"


def main() -> None:
    """Run the command; if packages are missing, say how to install them."""
    try:
        from suffice.cli.app import app

        startup_signal.finish()
        app()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "suffice":
            raise
        sys.exit(f'the command suffice needs {error.name}: pip install ".[cli]" in the folder of suffice')
    except KeyboardInterrupt:  # outside of the command itself
        sys.exit(130)
    except OSError as error:  # from --help and --version; commands handle their own
        if os.environ.get("SUFFICE_TRACEBACK") or error.filename not in (None, OUTPUT):
            raise
        sys.exit(f"{OUTPUT}: {error.strerror}")
    finally:
        _flush()


def _flush() -> None:
    """Flush standard output; if that fails, drop the rest, as Python would complain again at exit."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        ending = error.__context__  # the exception that ended the command
        if ending is None or getattr(ending, "code", 1) in (0, None):  # not reported yet
            sys.exit(f"{OUTPUT}: {error.strerror}")


if __name__ == "__main__":
    main()
