"""Tiles that many clusters share: their partial sums are added in groups of 16, then those of the groups."""

from dataclasses import replace

import pytest
from sgemm_cases import SPEC

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.emulator import verify
from autotune.search_spaces.matmul.sgemm import OPERATOR

SMALL = SgemmSchedule(
    block_m=32, block_n=32, block_k=8, warp_m=16, warp_n=32, thread_m=4, thread_n=4, pad_a=0, stages=1,
    double_buffer_fragments=False, vector_a=1, vector_b=1, vector_c=1,
)  # fmt: skip


_SHARED = [(1, 16), (1, 17), (1, 33), (2, 51)]


@pytest.mark.parametrize(
    ("tiles", "clusters", "cluster"), [*((*shared, cluster) for shared in _SHARED for cluster in (1, 2)), (1, 257, 1)]
)
def test_a_tile_of_many_peers(tiles: int, clusters: int, cluster: int) -> None:
    """Groups of 16 and groups of one, on a workspace that is used twice; 257 peers are more than 16 groups."""
    problem = SgemmProblem(32, 32 * tiles, 8 * cluster * -(-clusters // tiles) + 3, beta_nonzero=True)
    schedule = replace(SMALL, grid_blocks=clusters * cluster, cluster_k=cluster)
    verify(problem, OPERATOR.program(problem, schedule, SPEC))
