"""An engine: partitions that are worked on when asked, with everything that is sent or comes back as bytes."""

import operator
import pickle
from functools import reduce

import numpy as np

from suffice.data import Batch, Data
from suffice.data import Memory as Rows


def travel(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - bytes of its own


class Lazy(Data):
    def __init__(self, parts, steps=()):
        self.parts = [part if isinstance(part, Rows) else Rows(*part) for part in parts]  # as rows in memory, each
        self.steps, self.sent = steps, []

    def send(self, f):
        self.sent.append((f, len(pickle.dumps(f))))
        return travel(f)

    def sum(self, f):
        return reduce(operator.add, (travel(self.send(f)(Batch(part.X, part.Y))) for part in self.parts))

    def transform(self, f):
        return Lazy(self.parts, (*self.steps, f))

    def collect(self):
        answers = [part.X for part in self.parts]
        for f in self.steps:
            answers = [travel(self.send(f)(answer)) for answer in answers]
        return np.concatenate(answers)
