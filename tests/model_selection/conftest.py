"""What the tests of this folder share."""

from __future__ import annotations

import pytest

from suffice._estimator.classifier import Classifier


@pytest.fixture
def fits(monkeypatch):
    """How often an estimator was fitted by `fit`."""
    calls, fit = [], Classifier.fit

    def counted(self, *args, **kwargs):
        calls.append(self)
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(Classifier, "fit", counted)
    return calls
