"""Operators on pictures and boxes."""
