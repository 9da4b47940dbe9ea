"""The kernel of gemv by FMAs."""
