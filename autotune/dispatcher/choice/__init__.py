"""Which schedule serves a problem."""
