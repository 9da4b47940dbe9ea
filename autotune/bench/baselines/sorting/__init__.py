"""Baselines of sorts."""
