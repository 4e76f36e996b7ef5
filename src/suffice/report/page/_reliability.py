"""Whether probabilities are right: accuracy against confidence."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt

from suffice.report.measures import calibration_error
from suffice.report.page._charts import at, axes, colour_class, path, svg
from suffice.report.page._html import Html, number, tag
from suffice.report.page._scale import Scale, scale

FEW = 20  # rows of a bin below which its point is drawn as a ring


def reliability_diagram(points: Sequence[Sequence[float]], name: str, colour: int = 0, intervals: bool = False) -> Html:
    """Accuracy against confidence, with the diagonal on which they agree.

    Parameters
    ----------
    points : sequence of (count, mean confidence, accuracy)
        One for each bin; the area of a point grows with its count.
    name : str
        Whose probabilities they are; stands above, with their calibration error.
    colour : int, default=0
        Which of the colours of the series.
    intervals : bool, default=False
        Whether a line through each point shows the 95 % interval of its accuracy; bins of fewer than 20 rows are rings.
    """
    side, left, bottom, top = 220, 40, 38, 8
    x, y = scale([0, 1], left, side - 8), scale([0, 1], side - bottom, top)
    kept = [(n, c, a) for n, c, a in points if n > 0 and isfinite(c) and isfinite(a)]
    total = sum(n for n, _, _ in kept)
    dots = [_dot(n, c, a, total, x, y, intervals) for n, c, a in sorted(kept, reverse=True)]
    diagonal = tag("path", d=f"M{x(0):g} {y(0):g}L{x(1):g} {y(1):g}", class_="diagonal")
    line = tag("path", d=path([(x(c), y(a)) for _, c, a in sorted(kept, key=lambda p: p[1])])) if kept else None
    marks = tag("g", line if not intervals else None, *dots, class_=f"series {colour_class(colour)} dots")
    quality = f"calibration error {number(calibration_error(kept))}" if kept else "nothing measured"
    said = tag("figcaption", tag("b", name), " ", tag("span", quality, class_="quiet"))
    both = axes(x, y, "confidence", "accuracy")
    picture = svg(f"Reliability of {name}: {quality}", side, side, *both, diagonal, marks)
    return tag("figure", said, picture, class_="chart square")


def _dot(n: float, confidence: float, accuracy: float, total: float, x: Scale, y: Scale, intervals: bool) -> Html:
    told = f"{n:g} rows: confidence {confidence:.3f}, accuracy {accuracy:.3f}"
    place = {"cx": at(x(confidence)), "cy": at(y(accuracy)), "r": at(2.5 + 11 * sqrt(n / total))}
    if not intervals:
        return tag("circle", tag("title", told), **place)
    low, high = wilson(accuracy, n)
    told += f" ({low:.3f} to {high:.3f})" + (", few rows" if n < FEW else "")
    reach = tag("path", d=f"M{at(x(confidence))} {at(y(low))}V{at(y(high))}", class_="reach")
    place["r"] = at(2.5 + 5 * sqrt(n / total))
    return tag("g", tag("title", told), reach, tag("circle", **place), class_="few" if n < FEW else None)


def wilson(share: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % interval of a share of n rows.

        (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    >>> [round(end, 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]

    References
    ----------
    Wilson: Probable inference, the law of succession, and statistical inference. doi:10.1080/01621459.1927.10502953
    """
    centre = share + z * z / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    return max(0.0, (centre - reach) / whole), min(1.0, (centre + reach) / whole)
