"""How to find boxes and keep some of them."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.codegen.vision.nms.block.schedule import BlockSchedule

from .problem import DetectProblem

_LEAST_SLOTS = 64


@dataclass(frozen=True)
class ResultsSchedule(Schedule):
    """The last launch: a thread for each box that may be kept."""

    threads = 128

    def blocks(self, problem: DetectProblem) -> int:
        """As many as there are threads for."""
        return ceil_div(problem.batch * problem.max_output, self.threads)


@dataclass(frozen=True)
class DetectSchedule(Schedule):
    """The two launches of decode, that of nms by blocks that share an image, and the last one.

    Attributes:
        points, splits, vector_width: see `DecodeSchedule`.
        threads, chunk, cluster: see `BlockSchedule`.
    """

    points: int = tunable(128, values=(32, 64, 128, 256), power_of_two=True, least=32)
    splits: int = tunable(2, values=(1, 2, 4, 8, 16), power_of_two=True)
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    threads: int = tunable(256, values=(128, 256, 512, 1024), power_of_two=True, least=64)
    chunk: int = tunable(64, values=(64, 128, 256, 512), power_of_two=True, least=64)
    cluster: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))

    @property
    def decoding(self) -> DecodeSchedule:
        """Of the first two launches."""
        return DecodeSchedule(self.points, self.splits, self.vector_width)

    def keeping(self, problem: DetectProblem) -> BlockSchedule:
        """Of the third launch, with as many slots as there is room for boxes."""
        slots = _LEAST_SLOTS
        while slots < max(problem.capacity, self.chunk):
            slots *= 2
        return BlockSchedule(self.threads, slots, self.chunk, self.cluster)

    def blocks(self, problem: DetectProblem) -> int:
        """Of the first launch."""
        return self.decoding.blocks(problem.decoding)

    def footprint(self, problem: DetectProblem) -> Footprint:
        """Of the first launch."""
        return self.decoding.footprint(problem.decoding)
