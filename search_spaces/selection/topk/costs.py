"""What topk's instructions take."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.search_spaces.machine.coefficients import Coefficients


@dataclass(frozen=True)
class Costs(Coefficients, section="topk"):
    """What a selection takes.

    Attributes:
        element: instructions of an element that is compared with a floor.
        access: instructions of a load with its address.
        counted_reads: how often a row is read whose digits are counted.
        overflow: how often a row is read beside the first time whose sample's floor too many elements reach.
        floor_rounds: rounds of a search for a floor.
        compared: instructions of an entry in such a round.
        exchanged: instructions of a pair that is sorted.
        most_compared: results that are ordered by comparing each with all others.
        barrier_steps: a round of a block, in steps that load.
        row: instructions of a warp for its row, beside those of its keys.
        key: instructions of a key in a round of a warp.
    """

    element: float
    access: float
    counted_reads: float
    overflow: float
    floor_rounds: float
    compared: float
    exchanged: float
    most_compared: float
    barrier_steps: float
    row: float
    key: float
