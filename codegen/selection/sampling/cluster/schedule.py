"""How to draw by a cluster of blocks for each row."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.codegen.selection.sampling.schedule import MASS_BYTES, SamplingSchedule

CLUSTERS = (2, 4, 8, 16)


@dataclass(frozen=True)
class ClusterSchedule(SamplingSchedule):
    """The blocks of a cluster find what may be drawn of a row.

    Attributes:
        cluster: blocks that share a row.
    """

    kernel = "cluster"

    cluster: int = tunable(8, values=CLUSTERS, allowed=CLUSTERS)

    @property
    def parts(self) -> int:
        """See `SamplingSchedule`."""
        return self.cluster

    def footprint(self, problem: SamplingProblem) -> Footprint:
        """That of a block that has a row, and what blocks exchange."""
        alone = super().footprint(problem)
        exchanged = 2 + self.cluster + (self.candidates if problem.top_k else 0)
        return replace(alone, shared_bytes=alone.shared_bytes + exchanged * MASS_BYTES, cluster=self.cluster)
