"""Where sliders begin, where they reach and how fine they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import AdditiveTables, GaussianNB, NaiveBayes
from suffice.report.nomogram import controls


def control(values, model=None):
    """Of a column of numbers."""
    X = pd.DataFrame({"x": values})
    y = (np.argsort(np.argsort(values)) + np.arange(len(values)) % 7 * len(values) // 7 > len(values)).astype(int)
    fitted = (model or NaiveBayes(columns={"x": "bins"})).fit(X, y)
    (found,) = controls(fitted.nomogram(), fitted.statistics_.overview(), {})
    return found


def draws(name, n=4001):
    rng = np.random.default_rng(0)
    return {
        "money": lambda: np.exp(rng.normal(10, 2.5, n)).round(2),
        "losses": lambda: -np.exp(rng.normal(10, 2.5, n)).round(2),
        "counts": lambda: np.floor(np.exp(rng.normal(3, 2, n))),
        "both ways": lambda: rng.standard_cauchy(n).round(3),
        "plain": lambda: rng.normal(size=n).round(2),
        "ages": lambda: rng.integers(17, 90, n).astype(float),
    }[name]()


@pytest.mark.parametrize("name", ["money", "losses", "counts", "both ways", "plain", "ages"])
def test_a_typical_row_has_the_median_and_the_slider_reaches_the_rows(name):
    values = draws(name)
    found = control(values)
    rank = np.searchsorted(np.sort(values), [found.start * (1 - 1e-3), found.start * (1 + 1e-3)]) / len(values)
    assert min(rank) - 0.005 < 0.5 < max(rank) + 0.005 or abs(found.start - np.median(values)) < 0.01
    places = np.array(found.stops) if found.stops else np.arange(found.low, found.high + found.step / 2, found.step)
    assert bool(found.stops) == (name not in ("plain", "ages"))
    assert found.start in places or not found.stops
    assert (np.diff(places) > 0).all()
    share = np.diff(np.searchsorted(np.sort(values), places)) / len(values)  # of the rows, from one place to the next
    assert share.max() < 0.08
    if name == "counts":
        assert (places == np.rint(places)).all()


def test_normal_numbers_and_tables_have_even_steps():
    values = draws("plain")
    for model in (GaussianNB(), AdditiveTables(pairs=0)):
        assert control(values, model).stops == ()
    assert control(np.zeros(50) + np.arange(50) % 2).stops == ()


@pytest.mark.parametrize("values", [1.7e12 + np.geomspace(1e-3, 1e3, 301), np.geomspace(1e-100, 1e100, 301)])
def test_there_is_a_slider_for_any_numbers(values):
    found = control(values)
    places = np.array(found.stops or (found.low, found.high))
    assert np.isfinite([*places, found.start, found.step]).all()
    assert (np.diff(places) > 0).all()
    assert places[0] <= found.start <= places[-1]
