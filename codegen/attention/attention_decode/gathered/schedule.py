"""How to decode chunks of prompts by wgmma."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule

from .packed import packed

TILE_KEYS = 16  # of a block that gathers, as gather.cuh has them


@dataclass(frozen=True)
class GatherSchedule(Schedule):
    """The launch that gathers keys: a block for some keys of a request, as many as there is room for."""

    threads = 256

    def blocks(self, problem: AttentionDecodeProblem) -> int:
        """Blocks of the grid."""
        return problem.batch * ceil_div(problem.keys, TILE_KEYS)


@dataclass(frozen=True)
class GatheredSchedule(WgmmaSchedule):
    """A launch gathers all keys and values from their pages, and the kernel of attention_varlen reads them there.

    The fields are those of its schedule.
    """

    kernel = "gathered"

    def footprint(self, problem: AttentionProblem | AttentionDecodeProblem) -> Footprint:
        """See `Schedule`; that of the second launch, which takes the most."""
        return super().footprint(_of_sequences(problem))

    def blocks(self, problem: AttentionProblem | AttentionDecodeProblem) -> int:
        """Blocks of its grid."""
        return super().blocks(_of_sequences(problem))


def _of_sequences(problem: AttentionProblem | AttentionDecodeProblem) -> AttentionProblem:
    return packed(problem) if isinstance(problem, AttentionDecodeProblem) else problem
