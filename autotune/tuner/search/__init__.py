"""Which schedule to try next."""
