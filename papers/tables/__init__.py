"""The tables of the papers, as declarations."""

from __future__ import annotations

from papers.runner import PaperTable
from papers.tables import (
    dtc,
    dtc_networks,
    dtc_simulated,
    nblr,
    nblr_tests,
    rc1,
    rc1_cost,
    rc1_figures,
    rc2,
    rc2_summary,
)

EVERY: tuple[PaperTable, ...] = (
    *rc1.TABLES,
    *rc1_cost.TABLES,
    *rc1_figures.TABLES,
    *rc2.TABLES,
    *rc2_summary.TABLES,
    *nblr.TABLES,
    *nblr_tests.TABLES,
    *dtc.TABLES,
    *dtc_networks.TABLES,
    *dtc_simulated.TABLES,
)
TABLES: dict[str, PaperTable] = {table.name: table for table in EVERY}
