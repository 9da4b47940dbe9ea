"""Baselines of attention that are compiled for a problem."""
