"""A learner: calibration at a fixed rate whose result is the mean of all statistics on the way."""

import numpy as np

from suffice.learners import Evaluate, Fit, Learner, Observed, begin
from suffice.losses import Loss


class AveragedCalibration(Learner):
    """s <- s + rate S(X, Y - P), and theta of the mean of these s, which is valid as they are."""

    def __init__(self, rate=0.1, max_iter=10):
        self.rate = rate
        self.max_iter = max_iter

    def learn(self, model, data):
        model, data = begin(model, data)
        whole = data.sum(Observed(model))
        model, loss = model.resolve(whole), Loss.equal(len(whole.mass))
        s = mean = model.restrict(whole)
        history = {name: [] for name in ("log_loss", "soft_error", "error", "objective")}
        for t in range(1, self.max_iter + 1):
            theta = model.parameters(mean)
            got = data.sum(Evaluate(model, theta, whole.domain.classes, loss))
            means = got.losses.means()
            for name in history:
                history[name].append(means["log_loss" if name == "objective" else name])
            if t == self.max_iter:
                break
            new = s + self.rate * got.direction
            s = new if all(np.all(leaf) for leaf in model.attempt(new).valid.leaves()) else s
            mean = mean + (1 / (t + 1)) * (s - mean)
        return Fit(model, theta, whole, mean, history, self.max_iter)
