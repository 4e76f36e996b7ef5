"""From single splits to what is said: set means, means over sets, ratios of time, wins and losses."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from benchmarks import sets
from benchmarks.accuracy.methods import ALL, BOOSTING
from benchmarks.accuracy.run import PROTOCOL
from benchmarks.kept import Kept
from suffice.compare import wilcoxon

MEASURES = {"error": "error", "log_loss": "log loss", "calibration": "calibration error"}
LARGE = 10_000  # rows
SAME = 1e-12  # differences of means below which two methods are level


def lines(out):
    """The last result of every set, split and method (a frame); those of another protocol are left out."""
    found = Kept(out / "results.jsonl", ("set", "seed", "method")).read().values()
    rows = pd.DataFrame([row for row in found if row["protocol"] == PROTOCOL])
    for name in ("failed", "boosting_fit"):
        if name not in rows:
            rows[name] = None
    return rows


@dataclass(frozen=True)
class Summary:
    """Results of some sets, as means over their splits."""

    rows: pd.DataFrame

    @cached_property
    def means(self):
        """Every measure by set and method; a set of which a split failed or is missing is not there."""
        ran = self.rows[self.rows["failed"].isna()].copy()
        ran["boosting_fit"] = self._beside(ran)
        splits = ran.groupby(["set", "method"])["seed"].transform("nunique")
        columns = [*MEASURES, "auc", "fit", "predict", "boosting_fit", "rows"]
        ran = ran[splits == self.rows["seed"].nunique()].astype(dict.fromkeys(columns, float))
        return ran.groupby(["set", "method"])[columns].mean()

    def _beside(self, ran):
        """Boosting's seconds for the same split: taken in the same call, or else its own line."""
        own = ran[ran["method"] == BOOSTING].set_index(["set", "seed"])["fit"]
        other = pd.Series([own.get(pair, np.nan) for pair in zip(ran["set"], ran["seed"], strict=True)], ran.index)
        return ran["boosting_fit"].astype(float).fillna(other)

    @property
    def names(self):
        """The sets on which boosting, with which all others are compared, has been measured."""
        return sorted(self.wide("error").get(BOOSTING, pd.Series(dtype=float)).dropna().index)

    def wide(self, measure):
        """Set means (sets, methods), methods in the order of ALL."""
        table = self.means[measure].unstack()
        return table[[name for name in ALL if name in table]]

    @property
    def everywhere(self):
        """The methods that ran on all these sets, and those that ran on some of them only."""
        there = self.wide("error").loc[self.names].notna()
        return list(there.columns[there.all()]), list(there.columns[~there.all() & there.any()])

    def only(self, keep):
        """Restrict the results to sets whose name fulfils a condition."""
        return Summary(self.rows[self.rows["set"].map(keep)])

    def on(self, method):
        """Means over the sets that a method has in common with boosting: its own, boosting's, and their number."""
        both = [name for name in self.names if (name, method) in self.means.index]
        return self._mean(method, both), self._mean(BOOSTING, both), len(both)

    def _mean(self, method, names):
        of = self.means.xs(method, level="method").loc[names]
        predict = self.means["predict"].xs(BOOSTING, level="method").loc[names]
        found = of[[*MEASURES, "auc"]].mean().to_dict()
        found["fit"] = _geometric(of["fit"] / of["boosting_fit"])
        found["predict"] = _geometric(of["predict"] / predict)
        return found

    def duel(self, method, other, measure):
        """Sets on which a method is better, worse and level with another, and the signed-rank test of the set means."""
        pair = self.wide(measure)[[method, other]].dropna()
        gap = pair[method] - pair[other]
        p = wilcoxon(pair[method], pair[other]).p_value if len(pair) > 1 else 1.0
        return int((gap < -SAME).sum()), int((gap > SAME).sum()), int((gap.abs() <= SAME).sum()), p

    def scores(self, measure):
        """Set means of the methods that ran on all sets, as the tests of suffice.compare take them."""
        return self.wide(measure).loc[self.names, self.everywhere[0]]


def of_half(out, half, folder=sets.FOLDER):
    """The results of one half."""
    known = set(sets.names(folder, half))
    return Summary(lines(out)).only(known.__contains__)


def _geometric(ratios):
    return float(np.exp(np.log(ratios).mean()))
