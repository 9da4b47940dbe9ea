"""How to continue beams."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.selection.problem import SelectionProblem
from autotune.codegen.selection.topk.stream.schedule import ENTRY_BYTES, StreamSchedule


@dataclass(frozen=True)
class BeamStepSchedule(StreamSchedule):
    """A block, or several, goes through a beam's tokens; the last one of a request selects from what all of them left.

    Attributes:
        splits: blocks that share a beam.
    """

    kernel = ""

    def workspace_bytes(self, problem: SelectionProblem) -> int:
        """k entries of each block, and a ticket counter of each request, of which there are no more than beams."""
        return self.blocks(problem) * problem.k * ENTRY_BYTES + problem.rows * WORD_BYTES
