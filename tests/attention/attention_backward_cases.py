"""attention_backward's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from typing import Any

from attention.attention_cases import DOCUMENTS, FRAGMENTS, SCORE, TABLES
from attention.odd_cases import odd_cases

from autotune.codegen.attention.attention_backward.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.attention.attention_backward.wgmma.schedule import WgmmaSchedule
from autotune.codegen.attention.problem import DTYPES
from autotune.contract.pair_coverage import covering
from autotune.search_spaces.attention.attention_backward import OPERATOR
from autotune.search_spaces.machine.devices import named_device

LIMITS = named_device("h200")

FLOAT16 = DTYPES[1]

PROBLEMS = {
    "q8192-k8192-h16-b2-d128-bfloat16-causal": AttentionBackwardProblem(8192, 8192, 16, 2, head_dim=128, causal=True),
    "q8192-k8192-h64-g8-left128-d64-bfloat16-causal-sinks": AttentionBackwardProblem(
        8192, 8192, 64, 1, 8, 128, head_dim=64, causal=True, sinks=True
    ),
    "q4096-k4096-h8-d192-e128-float16": AttentionBackwardProblem(
        4096, 4096, 8, head_dim=192, value_dim=128, dtype=FLOAT16
    ),
    "q30-k33-h3-b2-left9-right4-d7-bfloat16-topleft-softcap-alignq4-skt30": AttentionBackwardProblem(
        30, 33, 3, 2, window_left=9, window_right=4, head_dim=7, top_left=True, softcap=True, stride_k_t=30, align_q=4
    ),
    "q1-k1-h1-d1-bfloat16": AttentionBackwardProblem(1, 1, 1, head_dim=1),
    "q5-k0-h2-d64-bfloat16-sinks": AttentionBackwardProblem(5, 0, 2, head_dim=64, sinks=True),
    "q0-k9-h2-d64-bfloat16": AttentionBackwardProblem(0, 9, 2, head_dim=64),
}
_GAPS = {
    "stride_q_h": 24,
    "stride_k_g": 40,
    "stride_v_t": 96,
    "stride_dout_h": 24,
    "stride_dq_h": 40,
    "stride_dv_g": 24,
}
SMALL_PROBLEMS = (
    AttentionBackwardProblem(16, 32, 1, head_dim=32, causal=True),
    AttentionBackwardProblem(19, 37, 2, 1, 1, head_dim=16, value_dim=24, sinks=True, dtype=FLOAT16),
    AttentionBackwardProblem(9, 21, 1, head_dim=5, window_left=3, window_right=2, softcap=True),
    AttentionBackwardProblem(13, 35, 4, 2, 2, head_dim=16, causal=True, window_left=7, **_GAPS),
    AttentionBackwardProblem(11, 23, 2, 2, 1, head_dim=8, **FRAGMENTS),
)
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"causal": True},
    {"causal": True, "window_left": 20, "deterministic": True},
    {"window_left": 9, "window_right": 40, "sinks": True, "top_left": True},
    {"softcap": True, "sinks": True, "causal": True},
)


def drawn_cases(count, spec=LIMITS):
    """See `odd_cases`."""
    return odd_cases(OPERATOR, KINDS, 1 << 21, count, spec)


# More tiles than stages, of several heads and of a tile that ends within one; rows that see no key.
_MANY_TILES = (
    (
        AttentionBackwardProblem(90, 140, 2, 1, 1, head_dim=16, causal=True, window_left=40),
        WgmmaSchedule(1, 16, query_consumers=1, tile_keys=32),
    ),
    (
        AttentionBackwardProblem(140, 90, 2, 2, head_dim=16, causal=True, sinks=True),
        WgmmaSchedule(2, 32, stages=1, together=False, ahead=False, query_consumers=1, tile_keys=16),
    ),
    (
        AttentionBackwardProblem(100, 60, 3, 1, 1, head_dim=24, causal=True, window_left=20),
        MmaSyncSchedule(64, 16, 16, 16, 3, vector_width=8),
    ),
)
# Consumers that share out queries of dq, and its columns.
_SINGLE_PASS = (
    (AttentionBackwardProblem(150, 140, 2, head_dim=24, causal=True), WgmmaSchedule(2, 128, single_pass=True)),
    (
        AttentionBackwardProblem(80, 150, 2, 1, 1, head_dim=72, window_left=50),
        WgmmaSchedule(2, 64, stages=1, single_pass=True, ahead=False),
    ),
)
# Scores that fragments change, of heads and sequences of their own, and masks that leave rows without a key.
_FRAGMENTS = (
    (
        AttentionBackwardProblem(50, 70, 4, 2, 2, head_dim=16, window_right=30, dtype=FLOAT16, **FRAGMENTS),
        MmaSyncSchedule(64, 16, 16, 16, vector_width=8),
    ),
    (
        AttentionBackwardProblem(70, 100, 4, 2, 2, head_dim=16, causal=True, score=SCORE),
        WgmmaSchedule(2, 128, single_pass=True),
    ),
    (
        AttentionBackwardProblem(140, 170, 2, 1, 1, head_dim=16, mask=DOCUMENTS),
        WgmmaSchedule(1, 16, query_consumers=1, tile_keys=32),
    ),
    (
        AttentionBackwardProblem(140, 170, 2, 2, 1, head_dim=16, **TABLES),
        WgmmaSchedule(1, 64, single_pass=True),
    ),
)
CASES = [*covering(drawn_cases(100), most=10), *_MANY_TILES, *_SINGLE_PASS, *_FRAGMENTS]
