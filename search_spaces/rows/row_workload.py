"""What the workloads of operators over rows count alike: lines of an access, misses of L2."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from autotune.codegen.model.hardware import LINE_BYTES, SECTOR_BYTES, WARP
from autotune.codegen.rows.problem import RowProblem
from autotune.codegen.rows.schedule import RowSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.stored_parts import times_stored
from autotune.search_spaces.machine.time_model import MachineCosts


@dataclass(frozen=True)
class Costs(Coefficients, section="rows"):
    """What operators over rows have in common.

    Attributes:
        cluster: clocks in which blocks wait for each other, for each doubling of a cluster.
    """

    cluster: float


def cluster_clocks(cluster: int, spec: DeviceSpec) -> float:
    """Clocks that a block waits for the others of its cluster."""
    return Costs.of(spec).cluster * log2(cluster)


def lines_of_access(threads_per_row: int, vector_bytes: int) -> float:
    """Cache lines that a warp's access touches, which goes to one row or to several."""
    of_row = min(WARP, threads_per_row)
    return WARP / of_row * max(1.0, of_row * vector_bytes / LINE_BYTES)


@dataclass(frozen=True)
class Stores:
    """What it takes to store a vector of a row.

    Attributes:
        accesses: instructions, as many as accesses take.
        lines: cache lines that a warp touches.
        times: how many times as long L2 takes as for whole vectors.
    """

    accesses: float
    lines: float
    times: float


def stores(problem: RowProblem, schedule: RowSchedule, spec: DeviceSpec) -> Stores:
    """Those of results, whose vectors need not be aligned where those that are read are.

    Lanes that exchange elements store whole vectors, but for what the first one and the last one have alone.
    """
    (written,) = problem.written
    width, size = schedule.vector_width, problem.element_bytes_of(written)
    lines = lines_of_access(schedule.threads_per_row, width * size)
    if schedule.exchanges(problem):
        sectors = width * SECTOR_BYTES / (min(WARP, schedule.threads_per_row) * width * size)
        return Stores(1 + width, lines + width, 1 + sectors * (times_stored(2, size, spec) - 1))
    single = 1 if problem.alike(width) else width
    return Stores(single, single * lines, times_stored(single, size, spec))


def rows_under_way(rows: int, schedule: RowSchedule, resident: int, spec: DeviceSpec) -> float:
    """Of so many rows, those that the blocks on all SMs have at once."""
    return min(rows, spec.sm_count * resident * schedule.rows_per_block / schedule.cluster)


def missed(between: float, spec: DeviceSpec) -> float:
    """The share of bytes that L2 has let go of when they are read again, if so many are read in between."""
    return max(0.0, 1 - MachineCosts.of(spec).l2_share * spec.l2_bytes / between) if between else 0.0
