"""One digest over all that a process chose."""

from __future__ import annotations

from hashlib import sha256

from .plan import all_chosen


def fingerprint() -> str:
    """64 hexadecimal digits over what this process chose so far: equal in two processes that chose the same.

    Processes with equal ones called the same problems, and computed each by the same program and machine code, or by
    the same library. In which order, how often and on which of several GPUs does not matter.
    """
    statements = sorted({chosen.statement for chosen in all_chosen()})
    return sha256("\n".join(statements).encode()).hexdigest()
