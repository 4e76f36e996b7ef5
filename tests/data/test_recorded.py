"""A data set whose sums are recorded is a data set like any other, and reads no rows before it has to."""

import numpy as np

from suffice.data import Memory
from suffice.data.base import rows_in
from suffice.data.recorded import Recorded
from suffice.testing import PickledPartitions, check_engine


class Kept:
    """A record in memory."""

    def __init__(self):
        self.questions, self.answers, self.next = [], [], 0

    def answer(self, question, work):
        if self.next == len(self.answers):
            self.questions.append(question)
            self.answers.append(work())
        assert question.alike(self.questions[self.next])
        self.next += 1
        return self.answers[self.next - 1]


def test_it_keeps_the_laws_of_engines():
    check_engine(lambda parts: Recorded(Kept(), lambda: PickledPartitions(parts)), counts=[1, 7])


def ask(data):
    some = data.map(np.abs).changed(lambda_free).persist()
    parts = [*some.split([0.3, 0.7], 1), *some.pieces(3, 2), some.sample(0.5), some.resample(4), some.cheap_sample(5)]
    return [part.sum(rows_in) for part in (some, *parts)]


def lambda_free(batch):
    return batch


def test_nothing_is_made_while_the_record_has_the_answers():
    kept = Kept()
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    first = ask(Recorded(kept, lambda: Memory(X, y)))
    assert first == ask(Memory(X, y))
    kept.next = 0
    assert ask(Recorded(kept, lambda: 1 / 0)) == first
    assert len({question.digest for question in kept.questions}) == len(kept.questions)  # every part is another
