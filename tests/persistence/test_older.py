"""Files of older versions load, and say what they said: by formulas that know nothing of this library."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import suffice

GOLDEN = Path(__file__).parent / "golden"
LOW = np.array([[0.5, 1.0], [1.5, 0.0], [2.0, 3.0]])
HIGH = np.array([[4.5, 2.5], [5.0, 4.0], [6.5, 3.5]])


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_normal_classes(version):
    """Those of 1.1 have forgotten a row."""
    model = suffice.load(GOLDEN / f"gaussian-nb-{version}.suffice")
    rows = np.array([[1.0, 2.0], [3.0, 2.5], [6.0, 3.0]])
    joint = np.column_stack([norm.pdf(rows, c.mean(axis=0), c.std(axis=0)).prod(axis=1) for c in (HIGH, LOW)])
    np.testing.assert_allclose(model.predict_proba(rows), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    assert model.classes_.tolist() == ["high", "low"]
    assert model.prior is None
    more = model.partial_fit([[3.0, 3.0]], ["low"]).forget(HIGH[:1], ["high"])
    new = suffice.GaussianNB(prior=None).fit([*LOW, [3.0, 3.0], *HIGH[1:]], ["low"] * 4 + ["high"] * 2)
    np.testing.assert_allclose(more.predict_proba(rows), new.predict_proba(rows), rtol=1e-10)


def test_tables_of_format_1_0():
    """Laplace's rule by hand: 2 rows of class 0, 3 of class 1, one of which has no shape."""
    model = suffice.load(GOLDEN / "categorical-nb-1.0.suffice")
    joint = np.array([2 / 5 * (3 / 5) * (2 / 4), 3 / 5 * (1 / 6) * (2 / 4)])  # red and round
    np.testing.assert_allclose(model.predict_proba([["red", "round"]])[0], joint / joint.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba([["red", None]])[0], [12 / 17, 5 / 17], rtol=1e-12)
    assert model.class_count_.tolist() == [2.0, 3.0]
