"""The display of shapes draws the values of `shapes_`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from suffice import AdditiveTables
from suffice.plotting import ShapesDisplay


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = pd.DataFrame({"x": rng.normal(size=300) + y, "w": rng.choice(["$u", "v"], 300), "z": rng.normal(size=300)})
    return AdditiveTables(pairs=[("x", "w")]).fit(X, y)


def plot_shapes(model, terms=12, width=9.0):
    return ShapesDisplay.from_estimator(model, terms=terms, width=width).figure_


def panel(figure, name):
    return next(axes for axes in figure.axes if axes.get_title().startswith(name))


def test_steps_bars_and_maps_are_the_values(model, tmp_path):
    figure = plot_shapes(model, list(model.shapes_))
    figure.savefig(tmp_path / "shapes.png", dpi=150)
    assert (tmp_path / "shapes.png").stat().st_size > 10_000
    drawn = panel(figure, "x (").patches[0].get_data()
    shape = model.shapes_["x"]
    assert_allclose(drawn.values, shape.values)
    assert_allclose(drawn.edges[1:-1], shape.edges[0][1:])
    widths = [bar.get_width() for bar in panel(figure, "w (").patches]
    assert_allclose(np.sort(widths), np.sort(model.shapes_["w"].values))
    assert_allclose(panel(figure, "x x w").images[0].get_array().T, model.shapes_["x", "w"].values)
    assert figure.get_suptitle() == "added to the log-odds of 1"


def test_some_terms_on_a_phone(model):
    figure = plot_shapes(model, ["z", ("x", "w")], width=3.9)
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert len(panels) == 2
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in panels]
    assert boxes[0].y0 >= boxes[1].y1 - 1  # one below the other
    assert min(box.x0 for box in boxes) >= 0
    assert max(box.x1 for box in boxes) <= figure.bbox.width


@pytest.mark.filterwarnings("ignore::suffice.PoorFitWarning")  # noise
def test_a_single_value_and_dates_are_seen():
    rng, n = np.random.default_rng(0), 800
    y = rng.integers(2, size=n)
    gain = np.where(rng.random(n) < 0.8, 0.0, rng.lognormal(6, 1, n)) - rng.random(n) * (rng.random(n) < 0.02)
    X = pd.DataFrame({"gain": gain, "day": np.datetime64("2018-01-01") + rng.integers(0, 900, n)})
    model = AdditiveTables(pairs=[("gain", "day")]).fit(X, y)
    assert not any(axes.get_title().startswith("gain x day") for axes in plot_shapes(model).axes)  # which adds nothing
    figure = plot_shapes(model, list(model.shapes_))
    figure.draw_without_rendering()
    shape = model.shapes_["gain"]
    dots = next(line for line in panel(figure, "gain (").lines if line.get_marker() == "o")
    assert_allclose(dots.get_xydata()[:, 0], 0.0, atol=1e-300)
    assert_allclose(dots.get_xydata()[:, 1], shape.values[shape.cells[0].index("0")])
    for axis in (panel(figure, "day (").xaxis, panel(figure, "gain x day").yaxis):
        assert all(text.get_text().startswith("20") for text in axis.get_ticklabels() if text.get_text())
    said = [text.get_text() for text in panel(figure, "gain x day").get_xticklabels()]
    assert "0" in said
    assert not any("e-3" in text for text in said)


def test_every_class_has_a_line():
    X, y = load_iris(return_X_y=True)
    figure = plot_shapes(AdditiveTables(pairs=None).fit(X, y), 2)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "1", "2"]
    assert sum(len(axes.patches) for axes in figure.axes if axes.get_title()) == 6


def test_of_many_classes_those_that_vary_most():
    rng = np.random.default_rng(0)
    y = rng.integers(12, size=1200)
    X = pd.DataFrame({"x": rng.normal(size=1200) + np.where(y < 5, 3.0 * y, 0.0), "w": rng.choice(["u", "v"], 1200)})
    figure = plot_shapes(AdditiveTables(pairs=None).fit(X, y.astype(str)), width=4.0)
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(said) == 6
    assert {"'3'", "'4'"} <= set(said)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
    assert " ".join(figure.get_suptitle().split()) == "added to the scores of 6 of 12 classes"


def test_long_names_are_written_whole():
    rng = np.random.default_rng(0)
    y, name = rng.integers(2, size=300), "a column with quite a long name that no panel is wide enough for"
    figure = plot_shapes(
        AdditiveTables(pairs=None).fit(pd.DataFrame({name: rng.normal(size=300) + y, "z": 1.0 * y}), y)
    )
    axes = panel(figure, "a column")
    assert name in " ".join(axes.get_title().split())
    figure.draw_without_rendering()
    assert axes.title.get_window_extent().x0 >= 0
    assert axes.title.get_window_extent().width < figure.bbox.width / 3


def test_one_term_by_its_key(model):
    for terms in ("z", ("x", "w"), np.int64(1)):
        assert sum(bool(axes.get_title()) for axes in plot_shapes(model, terms).axes) == 1


def test_what_cannot_be_drawn(model):
    with pytest.raises(ValueError, match="width must be a positive number, got 0"):
        plot_shapes(model, width=0)
    with pytest.raises(ValueError, match="takes a fitted estimator, got the class AdditiveTables"):
        plot_shapes(AdditiveTables)
    with pytest.raises(ValueError, match=r"terms has \['size'\], but the shapes are those of"):
        plot_shapes(model, ["size"])
    with pytest.raises(ValueError, match="terms must be"):
        plot_shapes(model, 0)
