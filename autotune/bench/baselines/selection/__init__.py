"""Baselines of selections."""
