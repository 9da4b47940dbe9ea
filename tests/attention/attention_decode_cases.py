"""attention_decode's problems for the contract, and schedules with lengths and pages that are hard to get right."""

from dataclasses import replace
from functools import partial

from autotune.codegen.attention.attention_decode.fma.schedule import FmaSchedule
from autotune.codegen.attention.attention_decode.gathered.schedule import GatheredSchedule
from autotune.codegen.attention.attention_decode.latent.schedule import LatentSchedule
from autotune.codegen.attention.attention_decode.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.cache import Cache, Scales
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.indices import Spread

FLOAT16 = DType.FLOAT16

PROBLEMS = {
    "q1-k8192-h32-b64-g8-d128-bfloat16-page16": AttentionDecodeProblem(1, 8192, 32, 64, 8, head_dim=128, page=16),
    "q1-k4096-h28-b8-g4-d128-float16-even": AttentionDecodeProblem(
        1, 4096, 28, 8, 4, head_dim=128, dtype=FLOAT16, spread=Spread.EVEN
    ),
    "q1-k4096-h32-b8-g4-d256-bfloat16-page32": AttentionDecodeProblem(1, 4096, 32, 8, 4, head_dim=256, page=32),
    "q4-k300-h10-b3-g2-left9-d7-e5-bfloat16-causal-softcap-sinks-lse-page3-pages77-long": AttentionDecodeProblem(
        4,
        300,
        10,
        3,
        2,
        9,
        head_dim=7,
        value_dim=5,
        causal=True,
        softcap=True,
        sinks=True,
        lse=True,
        page=3,
        pages=77,
        spread=Spread.LONG,
    ),
    "q1-k4096-h16-b16-g4-d128-float16-page16-fp8-token": AttentionDecodeProblem(
        1, 4096, 16, 16, 4, head_dim=128, dtype=FLOAT16, page=16, cache=Cache.FP8, scales=Scales.TOKEN
    ),
    "q2-k2048-h32-b4-g8-d64-bfloat16-int8-head": AttentionDecodeProblem(
        2, 2048, 32, 4, 8, head_dim=64, cache=Cache.INT8, scales=Scales.HEAD
    ),
}
SMALL_PROBLEMS = (
    AttentionDecodeProblem(1, 64, 2, 3, 1, head_dim=8),
    AttentionDecodeProblem(
        3, 33, 4, 3, 2, head_dim=7, value_dim=5, page=4, causal=True, lse=True, sinks=True, dtype=FLOAT16
    ),
    AttentionDecodeProblem(2, 37, 6, 2, 2, head_dim=12, page=3, softcap=True, cache=Cache.INT8),
    AttentionDecodeProblem(1, 37, 2, 2, head_dim=12, value_dim=20, cache=Cache.FP8, scales=Scales.TOKEN),
    # Heads ahead of places, and gaps.
    AttentionDecodeProblem(
        2, 40, 3, 2, 1, 9, head_dim=16, page=8, pages=7, stride_k_g=128, stride_k_t=16, stride_v_t=24
    ),
)
# Seven queries share keys, in rows that no tile divides; parts of one tile; pages of one place.
_GROUP = AttentionDecodeProblem(1, 150, 14, 3, 2, head_dim=40, page=1, lse=True)
_SHARED = AttentionDecodeProblem(5, 90, 3, 4, 1, 20, 2, head_dim=24, page=5, pages=40, softcap=True)
_CHUNK = AttentionDecodeProblem(40, 90, 4, 2, 2, 20, head_dim=16, page=8, lse=True, causal=True)
OWN_CASES = [
    (_GROUP, FmaSchedule(64, 4, 8, 2, 8, 8)),
    (
        AttentionDecodeProblem(3, 150, 14, 3, 2, head_dim=40, page=7, lse=True, sinks=True, causal=True),
        FmaSchedule(128, 5, 16, 1, 4, 4),
    ),
    (_SHARED, FmaSchedule(64, 8, 4, 1, 8, 2)),
    (replace(_SHARED, top_left=True), FmaSchedule(64, 3, 32, 4, 2, 4)),
    (_GROUP, MmaSyncSchedule(64, 32, 8, 2)),
    (_GROUP, MmaSyncSchedule(32, 16, 8, 4, 2, 3)),
    (AttentionDecodeProblem(1, 150, 14, 3, 1, head_dim=40, page=6), MmaSyncSchedule(64, 32, 2, 2, 1, 2)),
    # Warps that share keys, some of which have fewer elements of them than others, or none; values within keys.
    (
        AttentionDecodeProblem(1, 90, 14, 3, 2, head_dim=136, value_dim=72, page=1, lse=True),
        MmaSyncSchedule(64, 16, 8, 2, share_keys=True),
    ),
    (
        AttentionDecodeProblem(3, 90, 3, 2, 1, 20, 2, head_dim=288, value_dim=256, page=5, softcap=True, latent=True),
        MmaSyncSchedule(128, 32, 8, 2, 1, 2, share_keys=True),
    ),
    (replace(_SHARED, top_left=True), MmaSyncSchedule(64, 16, 4, 2)),
    # All keys that there is room for.
    (
        AttentionDecodeProblem(3, 90, 6, 2, 2, head_dim=16, causal=True, full=True, lse=True, sinks=True),
        MmaSyncSchedule(64, 16, 8, 2),
    ),
    # More rows than a block has; columns of values and elements of keys that no product divides.
    (
        AttentionDecodeProblem(
            5, 100, 28, 2, 4, 50, head_dim=72, value_dim=88, page=16, lse=True, sinks=True, causal=True
        ),
        MmaSyncSchedule(128, 16, 8, 2),
    ),
    # A chunk of a prompt, whose first rows see other keys than its last ones.
    (_CHUNK, MmaSyncSchedule(32, 16, 8, 2, 1, 2)),
    (_CHUNK, FmaSchedule(64, 5, 8, 1, 4, 2)),
    # Chunks whose keys are gathered: of pages of odd places, and of heads that no vector divides.
    (
        AttentionDecodeProblem(
            70, 150, 4, 3, 2, 20, head_dim=40, value_dim=24, page=5, pages=100, causal=True, softcap=True, sinks=True
        ),
        GatheredSchedule(2, 48, 2, True, grid_blocks=3, tickets=True),
    ),
    (
        AttentionDecodeProblem(33, 90, 2, 1, 1, head_dim=72, value_dim=41, lse=True, page=1, full=True),
        GatheredSchedule(1, 64, 1),
    ),
]
# Codes, whose scales have gaps; those of tokens on their way to shared memory, and to registers.
_CODES = AttentionDecodeProblem(
    2, 150, 14, 3, 2, head_dim=40, page=7, cache=Cache.FP8, scales=Scales.TOKEN, stride_kscale_w=7, stride_kscale_v=1
)
_INTEGERS = AttentionDecodeProblem(
    3, 90, 8, 3, 2, 20, 2, head_dim=40, value_dim=24, dtype=FLOAT16, softcap=True, cache=Cache.INT8, scales=Scales.HEAD
)
OWN_CASES += [
    (_CODES, FmaSchedule(64, 4, 8, 2, 8, 4)),
    (_CODES, MmaSyncSchedule(64, 16, 8, 2, 1, 3)),
    (_CODES, MmaSyncSchedule(64, 32, 2, 2)),
    (
        AttentionDecodeProblem(
            3, 90, 8, 3, 2, 20, head_dim=48, value_dim=80, softcap=True, cache=Cache.INT8, scales=Scales.TOKEN
        ),
        MmaSyncSchedule(64, 32, 16, 2, 1, 2, share_keys=True),
    ),
    (_INTEGERS, FmaSchedule(64, 4, 16, 1, 4, 2)),
    (_INTEGERS, MmaSyncSchedule(64, 16, 4, 2, 1, 2, share_keys=True)),
]
# Latent keys by wgmma: in pages of several to a tile, and without; tiles of rows that share keys.
_LATENT = partial(AttentionDecodeProblem, head_dim=144, value_dim=128, latent=True)
OWN_CASES += [(_LATENT(1, 200, 70, 2, 1, page=8, lse=True), LatentSchedule(2, multicast=True))]
PECULIAR = [
    (_LATENT(5, 300, 20, 3, 1, dtype=FLOAT16, causal=True, softcap=True, sinks=True), LatentSchedule(grid_blocks=5))
]
MOST = 6
