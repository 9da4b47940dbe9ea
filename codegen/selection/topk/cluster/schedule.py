"""How to select with the blocks of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.selection.problem import SelectionProblem
from autotune.codegen.selection.topk.stream.schedule import ENTRY_BYTES, StreamSchedule

CLUSTERS = (2, 4, 8, 16)


@dataclass(frozen=True)
class ClusterSchedule(StreamSchedule):
    """The blocks of a cluster select from their parts of a row, and the first one from what they have selected.

    Attributes:
        splits: blocks of a cluster.
    """

    kernel = "cluster"

    splits: int = tunable(8, values=CLUSTERS, allowed=CLUSTERS)

    def workspace_bytes(self, problem: SelectionProblem) -> int:
        """None: blocks read each other's shared memory."""
        return 0

    def footprint(self, problem: SelectionProblem) -> Footprint:
        """That of a block by itself, with room for what the first one selects."""
        alone = super().footprint(problem)
        return replace(alone, shared_bytes=alone.shared_bytes + self.candidates * ENTRY_BYTES, cluster=self.splits)
