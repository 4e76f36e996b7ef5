"""Time of the minimax plane from class moments, as a ratio to the cone programme (cvxpy with Clarabel) in the same run.

Both start from the same means and covariances. The programme's time includes what cvxpy does to set it up, as any user
of it pays; the ratio to the solver alone is given too. All other discriminants share the factorisation, whose time is
most of ours. One thread each.

Usage: python benchmarks/tangent.py [--repeats N]
"""

import argparse
import time
import warnings

import cvxpy as cp
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.linalg import sqrtm
from threadpoolctl import threadpool_limits

from suffice.data import OneHot
from suffice.models import FullGaussian
from suffice.models.planes.pencil import Pencil
from suffice.models.planes.planes import linear_bayes, minimax


def problem(d, seed=0):
    rng = np.random.default_rng(seed)
    n = 3 * d + 50
    one = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d))
    two = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d)) + rng.normal(size=d) / d**0.25
    model = FullGaussian()
    return model.statistics(model.encoder(np.concatenate([one, two])), OneHot.of(np.repeat([0, 1], n)))


def cone(s):
    """Kappa, and the seconds of the whole and of the solver alone; matrix roots are given to it for free."""
    moments = s.sums
    roots = [np.real(sqrtm(cov)) for cov in moments.scatter() / moments.count[:, :, None]]
    gap = np.diff(moments.mean() + moments.origin, axis=0)[0]
    started = time.perf_counter()
    w = cp.Variable(len(gap))
    programme = cp.Problem(cp.Minimize(sum(cp.norm(root @ w) for root in roots)), [w @ gap == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        programme.solve(solver=cp.CLARABEL)
    return 1 / programme.value, time.perf_counter() - started, programme.solver_stats.solve_time


def best(f, repeats):
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = f()
        times.append(time.perf_counter() - started)
    return result, min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    table = Table("features", "cvxpy / ours", "Clarabel alone / ours", "linear Bayes / minimax", "kappa differs by")
    threadpool_limits(1)
    for d in (20, 100, 400):
        s, used = problem(d), np.ones(d, dtype=bool)
        plane, ours = best(lambda s=s, used=used: minimax(Pencil.of(s, used, 0.0)), options.repeats)
        _, bayes = best(lambda s=s, used=used: linear_bayes(Pencil.of(s, used, 0.0)), options.repeats)
        kappa, whole, alone = min((cone(s) for _ in range(options.repeats)), key=lambda got: got[1])
        gap = abs(plane.distances[0] / kappa - 1)
        table.add_row(str(d), f"{whole / ours:.0f}", f"{alone / ours:.0f}", f"{bayes / ours:.1f}", f"{gap:.0e}")
    Console().print(table)


if __name__ == "__main__":
    main()
