"""topk: schedules of a cluster for each row, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.selection.topk.cluster.schedule import CLUSTERS, ClusterSchedule
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE
from autotune.search_spaces.selection.fitting import clusters, fitted

_LEAST_OF_BLOCK = 1024  # elements
_MOST_HELD = 8  # candidates of a thread in those that are tried first


def applies(problem: TopkProblem, spec: DeviceSpec) -> bool:
    """Whether there are SMs for two blocks of each row, and elements for them."""
    return spec.compute_capability >= CLUSTERS_SINCE and len(_clusters(problem, spec)) > 0


def space(problem: TopkProblem, spec: DeviceSpec) -> Space[ClusterSchedule]:
    """Candidates are raised to k and to the threads, and lowered to what fits, so that most draws are legal."""
    widths = tuple(width for width in (1, 2, 4, 8) if width <= problem.widest)

    def build(draw: Draw) -> ClusterSchedule:
        drawn = ClusterSchedule.from_dict(draw)
        least = max(drawn.threads, _power(problem.k))
        return fitted(problem, drawn.replace(candidates=max(least, min(drawn.candidates, 32 * drawn.threads))), spec)

    return Space(field_parameters(ClusterSchedule, vector_width=widths, splits=_clusters(problem, spec)), build)


def candidates(problem: TopkProblem, spec: DeviceSpec) -> Iterator[ClusterSchedule]:
    """As many blocks of a row as there are SMs for, with room for parts of few elements of a thread."""
    for splits in _clusters(problem, spec)[:-3:-1]:
        for threads, loads in ((1024, 2), (512, 4)):
            part = _power(ceil_div(problem.columns, splits))
            kept = max(2048, _power(problem.k), threads, part if part <= _MOST_HELD * threads else 0)
            yield fitted(problem, ClusterSchedule(threads, problem.widest, loads, splits, kept), spec)


def _clusters(problem: TopkProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Numbers of blocks that have an SM each, and enough of a row."""
    return clusters(CLUSTERS, problem.rows, problem.columns // max(_LEAST_OF_BLOCK, problem.k), spec)


def _power(value: int) -> int:
    """The least power of two that is not below a number."""
    return 1 << max(0, value - 1).bit_length()
