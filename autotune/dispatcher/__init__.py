"""Operators on the caller's own arrays, by the best kernel that is known for them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bound import BoundCall, plan
    from .explanation import Explanation, explain
    from .operators import sgemm, transpose
    from .settings import configure
    from .targets import CaptureError, LaunchError
    from .warming import warm

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

_MODULES = {
    "BoundCall": "bound",
    "CaptureError": "targets",
    "Explanation": "explanation",
    "LaunchError": "targets",
    "configure": "settings",
    "explain": "explanation",
    "plan": "bound",
    "sgemm": "operators",
    "transpose": "operators",
    "warm": "warming",
}


def __getattr__(name: str) -> Any:
    # NumPy alone takes longer to import than a program that only may need a kernel should wait for.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return found
