"""What learning returns, and the closed form, with which every learner can begin or end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from suffice._notice import Notice
from suffice._vector import Array
from suffice.data import Data
from suffice.models import AnyModel, AnyStatistics


@dataclass(frozen=True)
class Fit:
    """What learning returns: the resolved model, its parameters, S(X, Y), and how it went."""

    model: AnyModel
    parameters: Any
    statistics: AnyStatistics
    # the statistics behind the parameters, where a learner has moved them; a tuple for contests
    moved: AnyStatistics | tuple[Any, ...] | None = None
    history: dict[str, list[float]] = field(default_factory=dict)  # of the passes whose step was kept
    n_iter: int = 1
    converged: bool = True
    warnings: tuple[Notice, ...] = ()
    passes: dict[str, list[float]] = field(default_factory=dict)  # of all passes, with `accepted`
    level: Array | None = None  # (k,) log shares at which probabilities count; None: log p(y) of the parameters


def closed(model: AnyModel, s: AnyStatistics, data: Data | None = None) -> Fit:
    """theta(s) of statistics S(X, Y); their rows, if given, may be read again."""
    resolved = model.resolve(s)
    worked = resolved.restrict(s) if data is None else resolved.revisit(s, data.sum)
    values, settled = worked.sums.course()
    return Fit(
        resolved,
        resolved.parameters(worked),
        s,
        None if worked is s else worked,
        history={"log_posterior": values} if values else {},
        n_iter=max(1, len(values)),
        converged=settled,
        warnings=(*resolved.remarks(), *worked.sums.remarks()),
    )
