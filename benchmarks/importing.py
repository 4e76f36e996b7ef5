"""The time that importing suffice takes beyond scikit-learn's own, each in a new process.

Both are there as bytecode, as after any installation: the first process, which is not counted, writes it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.timing import Case, Told

PEER = "import sklearn.discriminant_analysis, sklearn.linear_model, sklearn.naive_bayes"
MOST = 0.3  # seconds
CODE = """
import time
{before}
start = time.{clock}()
{timed}
print(time.{clock}() - start)
"""


def seconds(timed: str, before: str = "", clock: str = "process_time") -> float:
    """The seconds of some statements, in a new process that has run others before."""
    code = CODE.format(timed=timed, before=before, clock=clock)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)  # noqa: S603 - our own code
    return float(done.stdout)


def importing() -> Iterator[Case]:
    """Importing suffice after scikit-learn, beside what is allowed and beside scikit-learn itself."""
    what, ours = "importing suffice", partial(seconds, "import suffice", PEER)
    yield Told("after scikit-learn", what, f"{MOST} s", ours, lambda: MOST, 1.0)
    yield Told("beside scikit-learn", what, "importing scikit-learn", ours, partial(seconds, PEER), 3.0)
