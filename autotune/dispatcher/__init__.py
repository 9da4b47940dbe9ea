"""Operators on the caller's own arrays, by the best kernel that is known for them."""

from .operators import sgemm, transpose

__all__ = ["sgemm", "transpose"]
