"""Planes between two classes."""
