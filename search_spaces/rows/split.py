"""Kernels whose blocks share rows: which schedules are legal, which to draw from, which to try first, what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.rows.problem import RowProblem
from autotune.codegen.rows.split.schedule import SplitRowSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Parameter, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

from .row_checks import row_checks
from .row_workload import lines_of_access, stores

P = TypeVar("P", bound=RowProblem)
S = TypeVar("S", bound=SplitRowSchedule)

_CLUSTER = 16  # blocks of the largest cluster, which hold shorter rows
_FEW = 0.25  # rows for each SM
_SHARING, _BUSY = 8, 0.4  # blocks of a cluster that reads long rows again; share of the SMs with one that is enough
_MOST_BLOCKS = 1024  # whose sums each block of a row reads
_BLOCKS_OF_SM = (1, 2, 3, 4, 6, 8)


@dataclass(frozen=True)
class SplitSpace(Generic[P, S]):
    """What an operator states of its space, by the type of its schedules.

    Attributes:
        kind: the type.
        refused: why blocks do not share the rows of a problem, if they do not.
        clusters: whether clusters that read a row again are among the operator's candidates.
    """

    kind: type[S]
    refused: Callable[[P], Iterator[str]]
    clusters: bool = False

    def kernel(
        self, emit: Callable[[P, S], Program], workload: Callable[[P, S, DeviceSpec], tuple[Workload, ...]]
    ) -> Kernel[P, S]:
        """The kernel, as its operator knows it."""
        own = self.constraints, self.space, self.candidates, self.checks
        return Kernel(self.kind, emit, *own, workload, self.applies)

    def applies(self, problem: P, spec: DeviceSpec) -> bool:
        """Whether rows are few, no cluster holds one, and clusters do not do as well.

        These are as fast where they leave few SMs idle and find the rows in L2: on an H200, 8 rows of 2^20 floats of a
        softmax took 25.7 µs, and split 27.8; 16 such rows 61.3 and 53.1.
        """
        row_bytes = problem.columns * problem.dtype.bytes
        long, few = row_bytes > _CLUSTER * spec.shared_per_block, 0 < problem.rows < _FEW * spec.sm_count
        busy, cached = problem.rows * _SHARING >= _BUSY * spec.sm_count, problem.rows * row_bytes <= spec.l2_bytes
        return long and few and not (self.clusters and busy and cached) and not any(self.refused(problem))

    def constraints(self, problem: P, schedule: S, spec: DeviceSpec) -> Iterator[str]:
        """What makes a schedule illegal beyond its fields and its footprint."""
        yield from self.refused(problem)
        vector_bytes = schedule.vector_width * problem.dtype.bytes
        if vector_bytes > WIDEST_ACCESS:
            yield f"vector_width {schedule.vector_width}: {vector_bytes} bytes over the {WIDEST_ACCESS} of an access"
        if schedule.blocks_per_row > _MOST_BLOCKS:
            yield f"blocks_per_row {schedule.blocks_per_row} over the {_MOST_BLOCKS} whose sums a block reads"

    def space(self, problem: P, spec: DeviceSpec) -> Space[S]:
        """All fields; as many blocks for a row as fill the device so many times."""
        blocks = sorted({max(1, min(number * spec.sm_count // problem.rows, _MOST_BLOCKS)) for number in _BLOCKS_OF_SM})
        widths = [width for width in (1, 2, 4, 8) if width * problem.dtype.bytes <= WIDEST_ACCESS]
        parameters = (
            Parameter("blocks_per_row", tuple(blocks)),
            *field_parameters(self.kind, vector_width=widths),
        )
        return Space(parameters, self.kind.from_dict)

    def candidates(self, problem: P, spec: DeviceSpec) -> Iterator[S]:
        """Vectors of 16 bytes, of as many threads as have their loads in flight."""
        width = WIDEST_ACCESS // problem.dtype.bytes
        first = self.kind(threads=512, vector_width=width, loads_in_flight=4, min_blocks_per_sm=2)
        for threads, loads, of_sm in ((512, 4, 2), (512, 4, 4), (512, 8, 2), (256, 8, 4), (256, 4, 8), (1024, 4, 1)):
            blocks = max(1, min(of_sm * spec.sm_count // problem.rows, _MOST_BLOCKS))
            resident = max(1, 1024 // threads)
            schedule = replace(
                first, threads=threads, loads_in_flight=loads, blocks_per_row=blocks, min_blocks_per_sm=resident
            )
            yield schedule
            yield replace(schedule, streaming=True)

    def checks(self, problem: P, schedule: S) -> list[tuple[P, S]]:
        """Those of a piece (`row_checks`), as rows of three pieces."""
        few = replace(schedule, blocks_per_row=3)
        found = row_checks(problem, schedule.piece)
        dense: Any = {f"ld{operand}": 0 for operand in problem.stored}
        return [(replace(check, columns=3 * check.columns, **dense), few) for check, _ in found]


def refused_invariance(batch_invariant: bool) -> Iterator[str]:
    """What keeps blocks from sharing the rows of a batch-invariant problem."""
    if batch_invariant:
        yield "blocks that share rows: expected no batch-invariant problem, whose rows have a schedule of many"


def pass_over_pieces(
    problem: RowProblem,
    schedule: SplitRowSchedule,
    spec: DeviceSpec,
    *,
    memory_bytes: float,
    vector: float,
    warp: float,
    access: float,
    special_clocks: float = 0.0,
    stored: bool = False,
) -> Workload:
    """The launch of a pass over all pieces of all rows.

    Args:
        problem, schedule, spec: what is computed, how, and where.
        memory_bytes: see `Workload`.
        vector, warp: instructions of a vector but for its load, and of a warp that begins and ends.
        access: instructions of an access with its address and bounds.
        special_clocks: of an SM, that special functions take for a vector of a warp.
        stored: whether each vector is stored.
    """
    warps, width, size = schedule.threads // WARP, schedule.vector_width, problem.dtype.bytes
    rounds = schedule.rounds(problem)
    vectors, steps = warps * rounds, ceil_div(rounds, schedule.loads_in_flight)
    piece_bytes = problem.columns * size / schedule.blocks_per_row
    results = stores(problem, schedule.piece, spec)
    lines = lines_of_access(schedule.threads, width * size) + stored * results.lines
    return Workload(
        blocks=schedule.blocks(problem),
        footprint=schedule.footprint(problem),
        memory_bytes=memory_bytes,
        steps=steps,
        instructions=(vectors * (vector + stored * results.accesses * access) + warps * warp) / steps,
        load_instructions=vectors * access / steps,
        unit_clocks=vectors * special_clocks / steps,
        lines=vectors * lines / steps,
        bytes_loaded=piece_bytes / steps,
        bytes_stored=stored * results.times * piece_bytes,
    )
