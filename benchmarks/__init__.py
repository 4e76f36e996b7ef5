"""Measurements: accuracy, speed, calibration, and the tables of the papers."""
