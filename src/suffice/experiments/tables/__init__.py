"""The tables of the papers, as declarations."""

from __future__ import annotations

from suffice.experiments.runner import Experiment
from suffice.experiments.tables import dtc, dtc_networks, dtc_simulated, rc1

TABLES: dict[str, Experiment] = {
    table.name: table for table in (*rc1.TABLES, *dtc.TABLES, *dtc_networks.TABLES, *dtc_simulated.TABLES)
}
