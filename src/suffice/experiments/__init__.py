"""Experiments: data sets, honest protocols, the tables of the papers, and reports."""
