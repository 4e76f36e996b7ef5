"""Classifiers compared on one table within a time."""
