"""Operators on the caller's own arrays, by the best kernel that is known for them.

Each operator that states a call is a function here, by its name; so are those stated beside it, such as ``gelu``.
"""

from typing import TYPE_CHECKING, Any

from autotune.base.lazy import lazy_names

if TYPE_CHECKING:
    from autotune.search_spaces.layout.transpose.call import transpose as transpose
    from autotune.search_spaces.matmul.sgemm.call import sgemm as sgemm

    from .calls.bound_call import BoundCall, plan
    from .calls.chosen import Chosen, on_choice
    from .calls.fingerprint import fingerprint
    from .calls.warming import warm
    from .choice.explanation import Explanation, explain
    from .lock.document import LockError
    from .settings import configure
    from .targets.base import CaptureError, LaunchError

__all__ = [
    "BoundCall",
    "CaptureError",
    "Chosen",
    "Explanation",
    "LaunchError",
    "LockError",
    "configure",
    "explain",
    "fingerprint",
    "on_choice",
    "plan",
    "warm",
]


def _function(name: str) -> Any:
    """The function of an operator, or one that an operator states beside it."""
    from autotune.search_spaces.contract.registry import OPERATORS

    from .calls.function import dispatched
    from .calls.shorthand import shorthand

    return dispatched(name).function if name in OPERATORS else shorthand(name)


def __dir__() -> list[str]:
    from autotune.search_spaces.contract.registry import OPERATORS

    from .calls.shorthand import shorthands

    return sorted({*__all__, *OPERATORS, *(stated.__name__ for _, stated in shorthands())})


# NumPy alone takes longer to import than a program that only may need a kernel should wait for.
__getattr__ = lazy_names(
    __name__,
    {
        "BoundCall": ".calls.bound_call",
        "CaptureError": ".targets.base",
        "Chosen": ".calls.chosen",
        "Explanation": ".choice.explanation",
        "LaunchError": ".targets.base",
        "LockError": ".lock.document",
        "configure": ".settings",
        "explain": ".choice.explanation",
        "fingerprint": ".calls.fingerprint",
        "on_choice": ".calls.chosen",
        "plan": ".calls.bound_call",
        "warm": ".calls.warming",
    },
    _function,
)
