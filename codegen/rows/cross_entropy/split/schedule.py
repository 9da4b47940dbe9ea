"""How to compute the loss of rows that many blocks share, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.rows.cross_entropy.logits_problem import LogitsProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropySchedule
from autotune.codegen.rows.softmax.schedule import Passes
from autotune.codegen.rows.split.schedule import SplitRowSchedule

_SUMS_BYTES = 12  # the maximum, the sum of exponentials and that of logits of a piece


@dataclass(frozen=True)
class LossSplitSchedule(SplitRowSchedule):
    """Of each piece, the maximum and the sums; then the loss of the row, and its gradient if asked for."""

    piece_type = CrossEntropySchedule
    passes = Passes.ONLINE
    early = False
    bulk = False

    def workspace_bytes(self, problem: LogitsProblem) -> int:
        """The sums of each piece."""
        return _SUMS_BYTES * self.blocks(problem)
