"""Sorts the keys of each segment, of any length."""
