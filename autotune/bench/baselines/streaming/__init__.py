"""Baselines of operators on elements."""
