"""What to sort by merges."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import kind
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem


@dataclass(frozen=True)
class MergeSortProblem(RadixSortProblem):
    """The keys of each row in ascending or descending order, those that are equal in the order in which they were.

    Attributes:
        order_only: false; keys are written.
        begin_bit, end_bit: 0; all bits count.
    """

    order_only: bool = kind(False, allowed=(False,), codes=("", "order"))
    begin_bit: int = kind(0, allowed=(0,), implied=0)
    end_bit: int = kind(0, allowed=(0,), implied=0)
