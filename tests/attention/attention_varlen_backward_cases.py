"""attention_varlen_backward's problems for the contract, and schedules with sequences that are hard to get right."""

from dataclasses import replace

from attention.attention_cases import FRAGMENTS, TABLES

from autotune.codegen.attention.attention_backward.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_backward.varlen import VarlenBackwardProblem
from autotune.codegen.attention.attention_backward.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.indices import Spread

PROBLEMS = {
    "q16372-k16372-h32-b24-g8-d128-bfloat16-causal": VarlenBackwardProblem(
        16372, 16372, 32, 24, 8, head_dim=128, causal=True
    ),
    "q300-k33-h3-b2-left9-right4-d7-float16-topleft-softcap-deterministic-cross": VarlenBackwardProblem(
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
        deterministic=True,
        cross=True,
    ),
}
SMALL_PROBLEMS = (
    VarlenBackwardProblem(21, 33, 2, 5, 1, head_dim=8, value_dim=5, sinks=True, cross=True),
    VarlenBackwardProblem(40, 40, 2, 3, head_dim=16, causal=True, sinks=True, dtype=DType.FLOAT16),
    VarlenBackwardProblem(40, 50, 2, 4, head_dim=8, cross=True, **FRAGMENTS),
)
# More sequences than a warp counts at once, many of them empty; more keys than queries and fewer; tiles of one sequence
# behind each other.
_SHORT = VarlenBackwardProblem(100, 100, 2, 40, 1, head_dim=24, sinks=True)
_CROSS = VarlenBackwardProblem(130, 90, 2, 7, 1, 9, 20, head_dim=24, value_dim=16, cross=True)
_LONG = VarlenBackwardProblem(200, 200, 1, 2, head_dim=40, causal=True, spread=Spread.LONG)
# Fragments that differ between sequences, and count queries and keys of each for themselves.
_CHANGED = VarlenBackwardProblem(90, 110, 2, 4, 1, head_dim=16, causal=True, cross=True, **FRAGMENTS)
_TWO_PASSES = WgmmaSchedule(1, 32, query_consumers=1, tile_keys=32)
_SINGLE_PASS = WgmmaSchedule(1, 64, single_pass=True)
OWN_CASES = [
    (replace(_SHORT, deterministic=True), _TWO_PASSES),
    (_CROSS, _TWO_PASSES),
    (_SHORT, _SINGLE_PASS),
    (_CROSS, replace(_SINGLE_PASS, stages=1, ahead=False)),
    (_LONG, WgmmaSchedule(2, 128, single_pass=True)),
    (_SHORT, MmaSyncSchedule(64, 16, 16, 16)),
    (_CHANGED, _TWO_PASSES),
    (_CHANGED, _SINGLE_PASS),
    (replace(_CHANGED, **TABLES), MmaSyncSchedule(64, 16, 16, 16)),
    (replace(_CROSS, top_left=True, causal=True, window_right=0), MmaSyncSchedule(64, 16, 16, 32, vector_width=8)),
]
MOST = 4
