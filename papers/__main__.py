"""`python -m papers` lists, runs and reports the tables."""

import sys

try:
    from papers.cli import app
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] in ("papers", "suffice"):
        raise
    sys.exit(f"the tables of the papers need {error.name}: pip install '.[cli]'")

app(prog_name="python -m papers")
