"""The tables and figures of three papers and a thesis, measured again beside the print."""

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
