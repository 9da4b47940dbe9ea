"""Why a schedule is chosen."""

from __future__ import annotations

from enum import StrEnum


class Rule(StrEnum):
    """Why a schedule is chosen, in the order in which the rules apply."""

    LOCK = "lock"
    BASELINE = "baseline"
    EXACT = "exact"
    FIRST_CALL = "first-call"
    NEAREST = "nearest"
    KIN = "kin"
    MODEL = "model"
    DEFAULT = "default"

    @property
    def meaning(self) -> str:
        """What people read."""
        return _MEANINGS[self]


_MEANINGS = {
    Rule.LOCK: "a lock in force says so",
    Rule.BASELINE: "a library was measured to be faster than the problem's own record",
    Rule.EXACT: "the problem's own record",
    Rule.FIRST_CALL: "the fastest of those that its first call tried",
    Rule.NEAREST: "the record of a similar problem, predicted to be the fastest",
    Rule.KIN: "the record of a device of the same kind, predicted to be the fastest",
    Rule.MODEL: "no record promises as much as what the time model predicts to be the fastest",
    Rule.DEFAULT: "nothing is known but what fits",
}
