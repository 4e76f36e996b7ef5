"""The numbers of rc1 (training error, 64 iterations at rate 0.1) on eight of its data sets."""

from __future__ import annotations

import pytest
from benchmarks.rc1 import measure

from tests.conftest import DATA

pytestmark = pytest.mark.data

# Printed in Tables II, IV and VI: error of the closed form, least error of RC, and the iteration at which RC has it.
PRINTED = {
    "iris": {"NB": (0.040, 0.033, 30), "QDA": (0.020, 0.013, 24), "LR": (0.040, 0.033, 7)},
    "diabetes": {"NB": (0.224, 0.199, 16), "QDA": (0.234, 0.193, 60), "LR": (0.246, 0.216, 36)},
    "haberman": {"NB": (0.233, 0.233, 1), "QDA": (0.239, 0.223, 23), "LR": (0.256, 0.256, 1)},
    "glass": {"NB": (0.211, 0.201, 10), "QDA": (0.343, 0.123, 64), "LR": (0.358, 0.299, 62)},
    "vehicle": {"NB": (0.364, 0.200, 63), "QDA": (0.084, 0.030, 56), "LR": (0.539, 0.234, 63)},
    "magic": {"NB": (0.248, 0.173, 63), "QDA": (0.215, 0.141, 53), "LR": (0.219, 0.211, 61)},
    "liver disorder": {"NB": (0.310, 0.304, 47), "QDA": (0.333, 0.278, 27), "LR": (0.339, 0.333, 21)},
    "mammographic": {"NB": (0.179, 0.172, 17), "QDA": (0.185, 0.169, 6), "LR": (0.191, 0.177, 47)},
}


@pytest.mark.parametrize("name", PRINTED)
def test_closed_form_and_calibration_are_as_printed(name):
    same_iteration = 0
    for method, (closed, calibrated, iteration) in PRINTED[name].items():
        ours = measure(DATA, name, method, only=("ml", "rc"))
        assert abs(ours["ml"][0] - closed) <= 0.0015, method
        assert abs(ours["rc"][0] - calibrated) <= 0.0015, method
        same_iteration += ours["rc"][1] == iteration
    assert same_iteration >= 2
