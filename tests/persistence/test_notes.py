"""Notes that are saved with a model."""

from __future__ import annotations

import json

import pytest

import suffice
from suffice.persistence import ModelFileError, load_noted
from suffice.persistence import archive as _archive


@pytest.fixture
def model():
    return suffice.GaussianNB().fit([[0.0], [1.0], [5.0]], [0, 0, 1])


def test_notes_come_back_with_the_model(model, tmp_path):
    notes = {"target": "läbel", "columns": {"age": "number"}, "na": ["none", None], "n": 3}
    suffice.save(model, tmp_path / "m.suffice", notes=notes)
    found = load_noted(tmp_path / "m.suffice")
    assert found.notes == notes
    assert found.library == suffice.__version__
    assert found.model.predict([[4.0]]) == suffice.load(tmp_path / "m.suffice").predict([[4.0]]) == [1]
    model.save(tmp_path / "plain.suffice")
    assert load_noted(tmp_path / "plain.suffice").notes == {}


def test_notes_are_json(model, tmp_path):
    with pytest.raises(TypeError, match="JSON"):
        suffice.save(model, tmp_path / "m.suffice", notes={"target": object()})
    assert not list(tmp_path.iterdir())
    suffice.save(model, tmp_path / "m.suffice", notes={"a": 1})
    with (tmp_path / "m.suffice").open("rb") as file:
        members = _archive.read(file)
    members["model.json"] = json.dumps({**json.loads(members["model.json"]), "notes": [1]}).encode()
    _archive.write(tmp_path / "m.suffice", members)
    with pytest.raises(ModelFileError, match="its document is not that of a model"):
        suffice.load(tmp_path / "m.suffice")
