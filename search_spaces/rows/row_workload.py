"""What the workloads of operators over rows count alike: lines of an access, misses of L2."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from autotune.codegen.model.hardware import LINE_BYTES, WARP
from autotune.codegen.rows.schedule import RowSchedule
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
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


def rows_under_way(rows: int, schedule: RowSchedule, resident: int, spec: DeviceSpec) -> float:
    """Of so many rows, those that the blocks on all SMs have at once."""
    return min(rows, spec.sm_count * resident * schedule.rows_per_block / schedule.cluster)


def missed(between: float, spec: DeviceSpec) -> float:
    """The share of bytes that L2 has let go of when they are read again, if so many are read in between."""
    return max(0.0, 1 - MachineCosts.of(spec).l2_share * spec.l2_bytes / between) if between else 0.0
