"""The kernel of gemv by tensor cores."""
