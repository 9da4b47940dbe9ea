"""sgemm's problems for the contract."""

from dataclasses import replace

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, LaneMap, SgemmSchedule
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 13  # cases: copies, pipelines and clusters of many kinds go together


PROBLEMS = {
    "m4096-n4096-k4096-nn": SgemmProblem(4096, 4096, 4096),
    "m1023-n1025-k1021-tn-alignb4": SgemmProblem(1023, 1025, 1021, transpose_a=True, align_b=4),
    "m1000-n1000-k1000-nt-lda1002-alignc8-beta": SgemmProblem(
        1000, 1000, 1000, transpose_b=True, lda=1002, align_c=8, beta_nonzero=True
    ),
    "m64-n64-k8192-nn": SgemmProblem(64, 64, 8192),
    "m16-n262144-k16-nn-batch3-sb4194304": SgemmProblem(16, 2**18, 16, batch=3, stride_b=2**22),
    "m3-n1000000000-k1-nn": SgemmProblem(3, 10**9, 1),
    "m1-n70-k1-nn-lda1073741824-ldb1073741824-ldc1073741824": SgemmProblem(1, 70, 1, lda=2**30, ldb=2**30, ldc=2**30),
    "m1-n1-k1-nn": SgemmProblem(1, 1, 1),
    "m1-n300-k40-tt": SgemmProblem(1, 300, 40, transpose_a=True, transpose_b=True),
    "m300-n1-k40-nt-ldc3": SgemmProblem(300, 1, 40, transpose_b=True, ldc=3),
    "m5-n7-k0-nn-beta": SgemmProblem(5, 7, 0, beta_nonzero=True),
    "m0-n5-k7-nn": SgemmProblem(0, 5, 7),
    "m5-n7-k3-nn-batch0": SgemmProblem(5, 7, 3, batch=0),
}
SMALL_PROBLEMS = (
    SgemmProblem(128, 256, 64),
    SgemmProblem(67, 131, 45, transpose_a=True, transpose_b=True, batch=2, beta_nonzero=True),
)

PIPELINED = SgemmSchedule(stages=3, copy_b=CopyMode.ASYNC_COPY, block_m=64, block_n=64, warp_m=32, warp_n=64)
# Tiles that lie along k.
_K_MAJOR = SgemmSchedule(
    block_m=16, block_n=32, block_k=16, warp_m=16, warp_n=16, thread_m=4, thread_n=4, lane_map=LaneMap.ROW_MAJOR,
    copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, pad_a=4, pad_b=4, stages=3, copy_steps=4, vector_c=1,
)  # fmt: skip
_ONE = replace(_K_MAJOR, vector_a=1, double_buffer_fragments=False, lane_map=LaneMap.Z_ORDER)
_FEW_ROWS = replace(_ONE, block_m=4, warp_m=4, thread_m=4, thread_n=2, warp_n=8, block_k=32, pad_b=0, copy_steps=1)
# Padding that is odd: the tile that follows is aligned for vectors nevertheless.
_ODD = SgemmSchedule(
    block_m=32, block_n=32, block_k=8, warp_m=16, warp_n=8, thread_m=1, thread_n=4, pad_a=1, stages=3, vector_a=4,
    vector_b=4,
)  # fmt: skip
_TURNED = replace(_ODD, warp_m=8, warp_n=16, thread_m=4, thread_n=1, pad_a=0, pad_b=1, vector_a=4, vector_c=1)
# Tiles that many clusters share, in groups of 16 and groups of one; 257 peers are more than 16 groups.
_SHARED = SgemmSchedule(
    block_m=32, block_n=32, block_k=8, warp_m=16, warp_n=32, thread_m=4, thread_n=4, pad_a=0, stages=1,
    double_buffer_fragments=False, vector_a=1, vector_b=1, vector_c=1,
)  # fmt: skip
_PEERS = [*((tiles, clusters, size) for tiles, clusters in ((1, 16), (1, 17), (1, 33), (2, 51)) for size in (1, 2))]
NT = {"transpose_b": True}
PECULIAR = [
    # Three warps copy six rows at a time: groups of four rows lie unevenly.
    (SgemmProblem(16, 48, 192, **NT), replace(_K_MAJOR, block_n=48, block_k=64)),
    (SgemmProblem(17, 35, 53, **NT, lda=56, ldb=56, batch=2, beta_nonzero=True), _K_MAJOR),
    (SgemmProblem(17, 35, 54, **NT), replace(_ONE, vector_b=2, warps_k=2)),
    (SgemmProblem(17, 35, 52), replace(_ONE, copy_b=CopyMode.REGISTERS, copy_steps=1, vector_a=4, vector_b=1)),
    (SgemmProblem(4, 50, 161, **NT, ldb=164), replace(_FEW_ROWS, grid_blocks=3)),
    (SgemmProblem(32, 64, 40), _ODD),
    (SgemmProblem(32, 64, 40, transpose_a=True, **NT), _TURNED),
    *(
        (
            SgemmProblem(32, 32 * tiles, 8 * size * -(-clusters // tiles) + 3, beta_nonzero=True),
            replace(_SHARED, grid_blocks=clusters * size, cluster_k=size),
        )
        for tiles, clusters, size in (*_PEERS, (1, 257, 1))
    ),
    # Of 35 partial sums, groups of 16 are added up first: two whole ones, and one of three.
    (SgemmProblem(20, 24, 35 * 16), replace(PIPELINED, grid_blocks=35)),
]
# For one shape, whose loop along k has no guards: the last tiles overlap their neighbours, the residue comes first.
EDGES = {
    "registers": PIPELINED,
    "asynchronous": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, copy_steps=4),
    "two stages": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, stages=2),
    "direct": replace(PIPELINED, copy_a=CopyMode.DIRECT, pad_a=0, stages=2),
    "streamed": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, grid_blocks=7),
    "clusters": replace(PIPELINED, copy_a=CopyMode.ASYNC_COPY, cluster_k=4),
}
EDGES = {
    name: replace(one, vector_a=1, vector_b=1, vector_c=1, specialize=Specialize.SHAPE) for name, one in EDGES.items()
}
PECULIAR += [
    (SgemmProblem(97, 70, k, transpose_a=turned, transpose_b=turned, batch=2, beta_nonzero=True), schedule)
    for schedule in EDGES.values()
    for k, turned in ((17, False), (49, True))
]
