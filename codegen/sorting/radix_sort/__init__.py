"""Sorts by the digits of keys, the lowest first."""
