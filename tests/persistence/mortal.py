"""A data set that takes some time to read and at some sum ends the process that reads it, as the system does: SIGKILL.

python -m tests.persistence.mortal FOLDER MODEL [sum NUMBER | write NUMBER | slow SECONDS]
"""

import os
import signal
import sys
import time

import numpy as np

from suffice import GaussianNB
from suffice.learners import RiskCalibration
from suffice.persistence import archive as _archive
from suffice.testing import PickledPartitions


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Mortal(PickledPartitions):
    def __init__(self, parts, last=None, seconds=0.0):
        super().__init__(parts)
        self.last, self.seconds, self.sums = last, seconds, 0

    def sum(self, f):
        self.sums += 1
        time.sleep(self.seconds)
        if self.sums == self.last:
            f(self.parts[0])
            die()
        return super().sum(f)


def write_half_of(number):
    fill, files = _archive._fill, iter(range(1, 10**6))

    def dying(file, members):
        fill(file, members)
        if next(files) == number:
            file.truncate(file.tell() // 2)
            file.flush()
            die()

    _archive._fill = dying


def estimator():
    learner = RiskCalibration(max_iter=12, stop=None, validation_fraction=0.3, init="bootstrap")  # both are drawn
    return GaussianNB(learner=learner)


def parts():
    y = np.arange(150) % 3
    X = np.random.default_rng(0).normal(size=(150, 4)) + y[:, None]
    return [(X[rows], y[rows]) for rows in np.array_split(np.arange(len(y)), 4)]


if __name__ == "__main__":
    folder, model, *how = sys.argv[1:]
    if how[:1] == ["write"]:
        write_half_of(int(how[1]))
    last = int(how[1]) if how[:1] == ["sum"] else None
    data = Mortal(parts(), last, float(how[1]) if how[:1] == ["slow"] else 0.0)
    fitted = estimator().fit(data, checkpoint=folder)
    fitted.save(model)
    print(data.sums)
