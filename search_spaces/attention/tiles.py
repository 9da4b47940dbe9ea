"""What schedules of several kernels of attention, and of its gradients, have in common."""

from __future__ import annotations

from autotune.codegen.attention.problem import HeadProblem
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.device_spec import DeviceSpec

_L2_SHARE = 0.5  # of L2 that keys and values of heads may take whose tiles are taken together
_MOST_TOGETHER = 64


def heads_in_l2(problem: HeadProblem, spec: DeviceSpec) -> int:
    """Heads whose keys and values L2 holds, where tiles of a head differ in what they see; a power of two."""
    if not problem.bounded_right or problem.bounded_left:
        return 1
    of_head = problem.keys * (problem.head_dim + problem.value_elements) * problem.dtype.bytes
    most = min(_L2_SHARE * spec.l2_bytes / max(1, of_head) * problem.group, problem.all_heads, _MOST_TOGETHER)
    together = 1
    while 2 * together <= most:
        together *= 2
    return together


def seen_keys(problem: HeadProblem, rows: int, keys: int) -> float:
    """Keys that a tile of so many queries goes through, in tiles of so many keys, on average."""
    if not problem.bounded_left and not problem.bounded_right and not problem.segmented:
        return ceil_div(problem.keys, keys) * keys
    seen = problem.pairs / max(1, problem.queries)
    cut = (problem.bounded_left + problem.bounded_right) * keys / 2 + (rows / 2 if problem.bounded_right else 0)
    return seen + cut
