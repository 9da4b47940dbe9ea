"""Operators on the caller's own arrays, by the best kernel that is known for them."""

from .explain import Explanation, explain
from .operators import sgemm, transpose

__all__ = ["Explanation", "explain", "sgemm", "transpose"]
