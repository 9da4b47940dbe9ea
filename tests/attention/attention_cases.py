"""attention's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from typing import Any

from attention.odd_cases import odd_cases

from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.codegen.attention.attention.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.attention.problem import DTYPES
from autotune.codegen.model.schedule import Specialize
from autotune.contract.pair_coverage import covering
from autotune.fragments import alibi, exp2, integers, mask, maximum, minimum, numbers, score, tanh, where
from autotune.search_spaces.attention.attention import OPERATOR
from autotune.search_spaces.machine.devices import named_device

LIMITS = named_device("h200")
BFLOAT16, FLOAT16 = DTYPES

PROBLEMS = {
    "q8192-k8192-h16-b2-d128-bfloat16-causal": AttentionProblem(8192, 8192, 16, 2, head_dim=128, causal=True),
    "q2048-k16384-h32-g8-d128-bfloat16-causal-lse": AttentionProblem(
        2048, 16384, 32, 1, 8, head_dim=128, causal=True, lse=True
    ),
    "q8192-k8192-h64-g8-left128-d64-bfloat16-causal-sinks": AttentionProblem(
        8192, 8192, 64, 1, 8, 128, head_dim=64, causal=True, sinks=True
    ),
    "q729-k729-h16-b8-d72-float16": AttentionProblem(729, 729, 16, 8, head_dim=72, dtype=FLOAT16),
    "q4096-k4096-h16-d192-e128-bfloat16-causal": AttentionProblem(
        4096, 4096, 16, head_dim=192, value_dim=128, causal=True
    ),
    "q300-k33-h3-b2-left9-right4-d7-float16-topleft-softcap-alignq4-skt30": AttentionProblem(
        300,
        33,
        3,
        2,
        window_left=9,
        window_right=4,
        head_dim=7,
        dtype=FLOAT16,
        top_left=True,
        softcap=True,
        stride_k_t=30,
        align_q=4,
    ),
    "q1-k1-h1-d1-bfloat16": AttentionProblem(1, 1, 1, head_dim=1),
    "q5-k0-h2-d64-bfloat16-lse": AttentionProblem(5, 0, 2, head_dim=64, lse=True),
    "q0-k9-h2-d64-bfloat16": AttentionProblem(0, 9, 2, head_dim=64),
}
_GAPS = {"stride_q_h": 24, "stride_k_g": 40, "stride_v_t": 96, "stride_o_h": 24}
# Rows that see no key, of a head of which all see all; scores that depend on all that a fragment is given.
MASK = mask(
    lambda batch, head, q, k: (
        ((q // 16 == k // 16) | (k - q >= 30) | (k < head))
        & ~((q % 7 == 3) | ((q - k) % 5 == 1) | ((q - k) // 16 == -3))
        | (head == 1)
    )
)
SCORE = score(
    lambda score, batch, head, q, k: (
        4 * tanh(score / 4)
        + where(k % 3 == head, 0.5 * batch, -0.01 * minimum(abs(q - k), 40))
        - maximum(0.1 * abs(score), minimum(exp2(score), 0.25))
    )
)
# Blocks, of which tiles of queries see some keys, others all or none; a block that sees no key at all. Of tiles of 16
# or 32 keys, one ends with the first remainder of 159 and has no other that counts.
DOCUMENTS = mask(
    lambda batch, head, q, k: (
        ((q + 13) // 64 == (k + 13) // 64)
        & ~((where(q < 100, k, 2 * k - maximum(k, q)) >= 150) | (-abs(q - k - 3) < -90) | (q > 128))
        | ((minimum(-q, -5) == -7) & (k % 159 < 9) & (0.5 * k >= 1))
    )
)
FRAGMENTS = {"score": SCORE, "mask": MASK}
# Slopes of heads and biases of distances; documents, of which tiles see all, some or nothing. Places beyond the ends.
TABLES = {
    "score": score(lambda score, batch, head, q, k: score + 0.01 * numbers[head] * (k - q) + numbers[q - k - 9]),
    "mask": mask(
        lambda batch, head, q, k: ((integers[q + 30 * batch] == integers[k]) | (integers[2 * k] == 3)) & (q - k != 5)
    ),
    "numbers_count": 100,
    "integers_count": 190,
}
SMALL_PROBLEMS = (
    AttentionProblem(16, 64, 1, head_dim=32, causal=True),
    AttentionProblem(19, 37, 2, 2, 1, head_dim=16, value_dim=24, lse=True, sinks=True, dtype=FLOAT16, **FRAGMENTS),
    AttentionProblem(9, 21, 1, head_dim=5, window_left=3, window_right=2, lse=True, softcap=True),
    AttentionProblem(13, 35, 4, 2, 2, head_dim=16, causal=True, window_left=7, **_GAPS),
)
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"causal": True},
    {"causal": True, "window_left": 20, "lse": True},
    {"window_left": 9, "window_right": 40, "sinks": True, "top_left": True},
    {"softcap": True, "lse": True, "sinks": True, "causal": True},
)


def drawn_cases(count, spec=LIMITS):
    """See `odd_cases`."""
    return odd_cases(OPERATOR, KINDS, 1 << 21, count, spec)


_WITH_TABLES = AttentionProblem(130, 200, 2, 2, 1, head_dim=16, lse=True, **TABLES)
_FRAGMENTS = (
    (AttentionProblem(70, 100, 2, 2, 1, head_dim=16, lse=True, **FRAGMENTS), FlashSchedule(64, rows_per_warp=2)),
    (
        AttentionProblem(70, 100, 2, 2, 1, head_dim=16, lse=True, window_right=30, **FRAGMENTS),
        MmaSyncSchedule(64, 32, 32, vector_width=8),
    ),
    (AttentionProblem(70, 100, 2, 2, 1, head_dim=16, mask=MASK), WgmmaSchedule(1, 48)),
    (AttentionProblem(70, 100, 3, head_dim=16, causal=True, score=alibi(3), lse=True), WgmmaSchedule(1, 48)),
    (AttentionProblem(130, 200, 1, 2, head_dim=16, mask=DOCUMENTS, lse=True), WgmmaSchedule(1, 32, stages=3)),
    (AttentionProblem(130, 200, 1, head_dim=16, mask=DOCUMENTS), WgmmaSchedule(1, 32, splits=2)),
    (AttentionProblem(130, 200, 1, 2, head_dim=16, mask=DOCUMENTS), MmaSyncSchedule(64, 16, 16, 3, splits=4)),
    (_WITH_TABLES, FlashSchedule(64)),
    (_WITH_TABLES, WgmmaSchedule(1, 32, specialize=Specialize.SHAPE)),
    (_WITH_TABLES, MmaSyncSchedule(64, 16, 16, 2, splits=2)),
)
# Tiles with queries of all heads of a group.
_GROUPS = (
    (
        AttentionProblem(70, 200, 6, 2, 2, head_dim=16, causal=True, lse=True, sinks=True),
        WgmmaSchedule(3, 32, pingpong=True, rescale_rarely=True, pack_group=True),
    ),
    (
        AttentionProblem(40, 90, 4, 2, 2, head_dim=16, window_left=30, window_right=3, score=SCORE),
        WgmmaSchedule(1, 32, splits=2, pack_group=True),
    ),
    (
        AttentionProblem(90, 200, 4, 1, 2, head_dim=72),
        WgmmaSchedule(2, 32, pingpong=True, queries_apart=True, grid_blocks=2, pack_group=True),
    ),
)
_LAST_KEY_UNSEEN = AttentionProblem(64, 31, 1, head_dim=64), WgmmaSchedule(consumers=1, tile_keys=32)
# More tiles than stages, so that sums are rescaled and stages filled again; blocks that take tile after tile, the last
# one without a key; tiles that are narrower than a window, of padded heads.
_MANY_TILES = (
    (
        AttentionProblem(64, 190, 1, head_dim=64, causal=True, window_left=40),
        WgmmaSchedule(consumers=1, tile_keys=32, stages=1),
    ),
    (
        AttentionProblem(130, 66, 2, head_dim=16, causal=True, lse=True),
        WgmmaSchedule(consumers=1, tile_keys=32, stages=2, grid_blocks=2, tickets=True, rescale_late=True),
    ),
    (
        AttentionProblem(40, 100, 1, head_dim=24, causal=True, window_left=20, lse=True),
        MmaSyncSchedule(64, tile_keys=16, stages=2),
    ),
    (
        AttentionProblem(40, 100, 2, head_dim=5, causal=True, lse=True),
        MmaSyncSchedule(64, tile_keys=16, vector_width=1),
    ),
)
# More parts than tiles of keys, of which a row sees few or none; a sink that belongs to no part.
_SHARED_KEYS = (
    (
        AttentionProblem(70, 150, 2, 2, 1, head_dim=24, value_dim=8, causal=True, top_left=True, lse=True, sinks=True),
        WgmmaSchedule(1, 32, splits=4),
    ),
    (AttentionProblem(40, 100, 2, 2, head_dim=16, window_left=20, lse=True), MmaSyncSchedule(64, 32, 16, splits=8)),
)
CASES = [
    *covering(drawn_cases(100), most=9),
    _LAST_KEY_UNSEEN,
    *_MANY_TILES,
    *_SHARED_KEYS,
    *_GROUPS,
    *_FRAGMENTS,
]
