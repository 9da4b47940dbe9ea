"""Operators that put elements in order."""
