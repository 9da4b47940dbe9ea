"""Sorts by merges of runs."""
