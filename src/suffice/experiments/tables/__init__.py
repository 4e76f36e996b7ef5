"""The tables of the papers, as declarations."""

from __future__ import annotations

from suffice.experiments.runner import PaperTable
from suffice.experiments.tables import dtc, dtc_networks, dtc_simulated, rc1, rc1_figures

MODULES = (rc1, rc1_figures, dtc, dtc_networks, dtc_simulated)
TABLES: dict[str, PaperTable] = {table.name: table for module in MODULES for table in module.TABLES}
