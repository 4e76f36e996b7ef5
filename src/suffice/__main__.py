"""The command `suffice`, also as `python -m suffice`."""

import sys


def main() -> None:
    """Run the command, or say what to install for it."""
    try:
        from suffice.cli import app

        app()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "suffice":
            raise
        sys.exit(f'the command suffice needs {error.name}: pip install "suffice[cli]"')
    except KeyboardInterrupt:  # while it was being imported
        sys.exit(130)


if __name__ == "__main__":
    main()
