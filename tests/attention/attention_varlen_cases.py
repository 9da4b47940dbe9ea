"""attention_varlen's problems for the contract, and schedules with sequences that are hard to get right."""

from dataclasses import replace

from attention.attention_cases import FRAGMENTS, SCORE, TABLES

from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.codegen.attention.attention.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention.varlen import VarlenAttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.indices import Spread

PROBLEMS = {
    "q16372-k16372-h32-b24-g8-d128-bfloat16-causal": VarlenAttentionProblem(
        16372, 16372, 32, 24, 8, head_dim=128, causal=True
    ),
    "q15654-k15654-h12-b64-d64-float16-long": VarlenAttentionProblem(
        15654, 15654, 12, 64, head_dim=64, dtype=DType.FLOAT16, spread=Spread.LONG
    ),
    "q300-k33-h3-b2-left9-right4-d7-float16-topleft-softcap-cross": VarlenAttentionProblem(
        300,
        33,
        3,
        2,
        window_left=9,
        window_right=4,
        head_dim=7,
        dtype=DType.FLOAT16,
        top_left=True,
        softcap=True,
        cross=True,
    ),
}
SMALL_PROBLEMS = (
    VarlenAttentionProblem(21, 33, 2, 5, 1, head_dim=8, value_dim=5, sinks=True, lse=True, cross=True),
    VarlenAttentionProblem(40, 40, 2, 3, head_dim=16, causal=True, lse=True, dtype=DType.FLOAT16),
    VarlenAttentionProblem(50, 70, 2, 4, head_dim=8, lse=True, cross=True, **FRAGMENTS),
)
# More sequences than a warp counts at once, many of them empty; more keys than queries and fewer; tiles of one sequence
# behind each other.
_SHORT = VarlenAttentionProblem(100, 100, 2, 40, 1, head_dim=24, lse=True)
_CROSS = VarlenAttentionProblem(130, 90, 2, 7, 2, 9, 20, head_dim=24, value_dim=16, cross=True, sinks=True)
_LONG = VarlenAttentionProblem(200, 200, 1, 2, head_dim=40, causal=True, spread=Spread.LONG)
# Scores and masks that differ between sequences, and count queries and keys of each for themselves.
_CHANGED = VarlenAttentionProblem(150, 190, 2, 6, 1, head_dim=16, causal=True, lse=True, cross=True, **FRAGMENTS)
_GROUPS = VarlenAttentionProblem(
    150, 190, 4, 6, 1, head_dim=16, causal=True, lse=True, sinks=True, cross=True, score=SCORE
)
_SCHEDULES = (
    WgmmaSchedule(consumers=1, tile_keys=32, stages=2),
    MmaSyncSchedule(64, tile_keys=16),
    FlashSchedule(64, rows_per_warp=2),
)
OWN_CASES = [
    *((problem, schedule) for problem in (_SHORT, _CROSS, _LONG, _CHANGED) for schedule in _SCHEDULES),
    (replace(_CROSS, top_left=True, causal=True, window_right=0), _SCHEDULES[0]),
    (_LONG, WgmmaSchedule(consumers=2, tile_keys=32, pingpong=True, rescale_late=True)),
    (replace(_SHORT, causal=True), WgmmaSchedule(consumers=1, tile_keys=32, grid_blocks=2, tickets=True)),
    (_SHORT, WgmmaSchedule(consumers=1, tile_keys=32, grid_blocks=3, tickets=True)),
    (_CROSS, WgmmaSchedule(2, 32, rescale_rarely=True, queries_apart=True, grid_blocks=2)),
    (_CROSS, WgmmaSchedule(consumers=1, tile_keys=32, splits=2)),
    (_GROUPS, WgmmaSchedule(consumers=1, tile_keys=32, grid_blocks=2, tickets=True, pack_group=True)),
    (_LONG, MmaSyncSchedule(64, tile_keys=16, splits=4)),
    (_CHANGED, WgmmaSchedule(consumers=2, tile_keys=32, grid_blocks=2, tickets=True)),
    (_CHANGED, MmaSyncSchedule(64, tile_keys=16, splits=2)),
    (replace(_CHANGED, **TABLES), WgmmaSchedule(consumers=1, tile_keys=32, grid_blocks=2, tickets=True)),
]
MOST = 5
