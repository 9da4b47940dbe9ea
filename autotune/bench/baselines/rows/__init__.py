"""Baselines of reductions of rows."""
