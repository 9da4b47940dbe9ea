"""Operators that choose among the elements of rows."""
