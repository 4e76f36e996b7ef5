"""The tables of the papers, as declarations."""

from __future__ import annotations

from suffice.experiments.runner import Experiment
from suffice.experiments.tables import rc1, rc1_figures

TABLES: dict[str, Experiment] = {table.name: table for table in (*rc1.TABLES, *rc1_figures.TABLES)}
