"""Operators that read and write each element once."""
