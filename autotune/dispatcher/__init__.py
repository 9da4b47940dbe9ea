"""Operators on the caller's own arrays, by the best kernel that is known for them."""

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .calls.bound import BoundCall, plan
    from .calls.operators import sgemm, transpose
    from .calls.warming import warm
    from .choice.explanation import Explanation, explain
    from .settings import configure
    from .targets.base import CaptureError, LaunchError

__all__ = [
    "BoundCall",
    "CaptureError",
    "Explanation",
    "LaunchError",
    "configure",
    "explain",
    "plan",
    "sgemm",
    "transpose",
    "warm",
]

# NumPy alone takes longer to import than a program that only may need a kernel should wait for.
__getattr__ = lazy_names(
    __name__,
    {
        "BoundCall": ".calls.bound",
        "CaptureError": ".targets.base",
        "Explanation": ".choice.explanation",
        "LaunchError": ".targets.base",
        "configure": ".settings",
        "explain": ".choice.explanation",
        "plan": ".calls.bound",
        "sgemm": ".calls.operators",
        "transpose": ".calls.operators",
        "warm": ".calls.warming",
    },
)
