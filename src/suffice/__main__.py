"""The command `suffice`, also as `python -m suffice`."""

import os
import sys

from suffice import _starting


def main() -> None:
    """Run the command, or say what to install for it."""
    try:
        from suffice.cli import app

        _starting.begun()
        app()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "suffice":
            raise
        sys.exit(f'the command suffice needs {error.name}: pip install "suffice[cli]"')
    except KeyboardInterrupt:  # before or after the command itself
        sys.exit(130)
    except OSError as error:  # of the help: all else has names
        if os.environ.get("SUFFICE_TRACEBACK") or error.filename is not None:
            raise
        sys.exit(f"standard output: {error.strerror}")


if __name__ == "__main__":
    main()
