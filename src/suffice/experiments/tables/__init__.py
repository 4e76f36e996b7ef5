"""The tables of the papers, as declarations."""

from __future__ import annotations

from suffice.experiments.runner import PaperTable
from suffice.experiments.tables import dtc, rc1, rc1_figures

TABLES: dict[str, PaperTable] = {table.name: table for table in (*rc1.TABLES, *rc1_figures.TABLES, *dtc.TABLES)}
