"""What schedules have in common that cut the keys of a request into parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from autotune.codegen.attention.attention_decode.emit import source_of
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.headers import Constant

from .problem import AttentionDecodeProblem

_TOP = 2  # floats of a row beside its sums of values: the largest logit, and the sum of weights
_VECTOR = 4  # floats of sums of values that are loaded at once
_LEAST_REGISTERS, _SHARE_REGISTERS = 80, 16  # of a thread, and more by which it finds its share: as ptxas takes them


@dataclass(frozen=True)
class Parts(Schedule):
    """A block has some rows, and parts of the keys of their requests.

    Parts are of whole tiles. Those of a fixed grid are equal shares of the keys of all requests; otherwise they follow
    from the request's own length alone. The last of a row's blocks to finish puts their results together, in the order
    of the parts; or the blocks are a cluster, and each puts some columns together.
    """

    rows = 1
    grid_blocks = 0
    splits = 1
    part_tiles = 1
    cluster = False

    @property
    def tile_keys(self) -> int:
        """Keys that a block takes at once."""
        raise NotImplementedError

    @property
    def cluster_blocks(self) -> int:
        """Blocks of a cluster."""
        return self.splits if self.cluster else 1

    def wanted_registers(self, registers: int) -> int:
        """What ptxas takes of a thread where as many do for a part."""
        return max(registers, _LEAST_REGISTERS) + _SHARE_REGISTERS if self.grid_blocks else registers

    def row_tiles(self, problem: AttentionDecodeProblem) -> int:
        """Blocks that have all rows of a head of k and v of a request."""
        return ceil_div(problem.group * problem.queries, self.rows)

    def grid_heads(self, problem: AttentionDecodeProblem) -> int:
        """Blocks that have all rows of a request."""
        return self.row_tiles(problem) * problem.kv_heads

    def row_blocks(self, problem: AttentionDecodeProblem) -> int:
        """Blocks that have some keys: those of all rows of all heads of k and v of all requests."""
        return self.grid_heads(problem) * problem.batch

    def blocks(self, problem: AttentionDecodeProblem) -> int:
        """Blocks of the grid."""
        if not self.grid_blocks:
            return self.row_blocks(problem) * self.splits
        sharing = max(1, self.grid_blocks // max(1, problem.kv_heads))
        return self.grid_heads(problem) * min(sharing, self.listed_tiles(problem))

    def listed_tiles(self, problem: AttentionDecodeProblem) -> int:
        """Tiles of keys of all requests that there is room for."""
        return problem.batch * max(1, ceil_div(problem.keys, self.tile_keys))

    def states(self, problem: AttentionDecodeProblem) -> int:
        """That parts may leave. A share ends in each block of a grid, and the keys of a request in each row block."""
        return self.blocks(problem) + (self.row_blocks(problem) if self.grid_blocks else 0)

    def most_parts(self, problem: AttentionDecodeProblem) -> int:
        """Of the keys of a row."""
        return self.blocks(problem) // max(1, self.grid_heads(problem)) if self.grid_blocks else self.splits

    def state_bytes(self, problem: AttentionDecodeProblem) -> int:
        """Of what some keys make of the rows of a block."""
        return WORD_BYTES * self.rows * (ceil_div(problem.value_elements, _VECTOR) * _VECTOR + _TOP)

    def sum_bytes(self, problem: AttentionDecodeProblem, warps: int) -> int:
        """Of shared memory that it takes to add the states of warps, and those of parts: weights are there, too."""
        rows = min(self.rows, problem.group * problem.queries)
        return warps * self.state_bytes(problem) + WORD_BYTES * rows * max(warps, self.most_parts(problem))

    def program(
        self,
        problem: AttentionDecodeProblem,
        header: str,
        function: str,
        facts: Mapping[str, Constant] = MappingProxyType({}),
        maps: Sequence[Argument] = (),
        text: str = "",
    ) -> Program:
        """Of a kernel that leaves states of parts in the workspace; see `KernelSource.scheduled`."""
        split = (self.splits > 1 or self.grid_blocks > 0) and not self.cluster
        facts = {**facts, "one_row_tile": self.row_tiles(problem) == 1}
        counters = WORD_BYTES * self.row_blocks(problem) if split else 0
        program = source_of(problem, partials=split).scheduled(
            self, header, function, facts=facts, maps=maps, text=text, workspace_bytes=counters
        )
        states = self.states(problem) * self.state_bytes(problem)
        return program.in_workspace(partials=states) if split and not problem.empty else program
