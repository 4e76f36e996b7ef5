"""Compiled loops, threads, progress, warnings, files: what knows no statistics."""
