"""How to decode with latent keys by wgmma."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.attention.wgmma.schedule import ARCHITECTURE
from autotune.codegen.attention.attention_decode.parts import Parts
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.tensor_maps import ROW_BYTES, boxes
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARPGROUP, WORD_BYTES
from autotune.codegen.model.schedule import Specialize

CONSUMERS = 2  # each has half of the columns of values
STAGES = 2  # tiles of keys in shared memory
_BARRIER = 8  # bytes
_READERS = 3  # of a tile, that release it apart
_REGISTERS = 240  # of a thread: half of the columns of values, scores and weights


@dataclass(frozen=True)
class LatentSchedule(Parts):
    """A block has 64 rows; tensor copies bring tiles of 64 keys to shared memory, of which values are a part.

    One warpgroup multiplies queries by keys and weighs the scores. Two multiply weights by values, half of the columns
    each.

    Attributes:
        splits: parts that the keys of a request are cut into at most, where there is no fixed grid.
        part_tiles: tiles that a part has at least.
        grid_blocks: blocks at most, of which those of a head have equal shares of the keys of all requests; 0: requests
            are cut by their own length.
        multicast: whether two blocks that have different rows and the same keys are a cluster. Each copies one half of
            keys to both.
        specialize: whether the shape is compiled in.
    """

    kernel = "latent"

    threads = CONSUMERS * WARPGROUP
    rows = 64
    tile_keys = 64
    splits: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 128), short="S")
    part_tiles: int = tunable(1, values=(1, 2, 4, 8, 16, 32, 64, 128), short="PT")
    grid_blocks: int = tunable(0, least=0, short="G")
    multicast: bool = tunable(False, values=(False, True), short="M")
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: AttentionDecodeProblem) -> Footprint:
        """See `Schedule`; threads get what registers there are."""
        of_keys = boxes(problem.head_dim)
        tiles = ((1 + STAGES) * of_keys + 1) * self.rows * ROW_BYTES  # queries, stages and weights
        shared = tiles + _BARRIER * (1 + STAGES * (of_keys + _READERS)) + WORD_BYTES * self.rows
        return Footprint(self.threads, shared, _REGISTERS, 1 + self.multicast, architecture=ARCHITECTURE)
