"""Operators that change how arrays lie in memory."""
