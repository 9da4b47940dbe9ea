"""The caller's arrays."""
