"""Operators on the caller's own arrays, by the best kernel that is known for them."""

from .bound import BoundCall, plan
from .explanation import Explanation, explain
from .operators import sgemm, transpose
from .targets import CaptureError, LaunchError

__all__ = ["BoundCall", "CaptureError", "Explanation", "LaunchError", "explain", "plan", "sgemm", "transpose"]
