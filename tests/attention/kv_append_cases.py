"""kv_append's problems for the contract."""

from autotune.codegen.attention.cache import Cache, Scales
from autotune.codegen.attention.kv_append.problem import KvAppendProblem
from autotune.codegen.attention.kv_append.schedule import KvAppendSchedule
from autotune.codegen.attention.kv_append.tensors import Where
from autotune.codegen.model.dtype import DType

FLOAT16, INT64 = DType.FLOAT16, DType.INT64

PROBLEMS = {
    "t256-h8-pages4096-page16-d128-bfloat16-int32": KvAppendProblem(256, 8, 4096, 16),
    "t64-h1-pages8192-page64-d256-e128-float16-int64": KvAppendProblem(
        64, 1, 8192, 64, head_dim=256, value_dim=128, dtype=FLOAT16, slot_dtype=INT64
    ),
    "t9-h5-pages3-page7-d72-bfloat16-int32-skg80-alignk4": KvAppendProblem(
        9, 5, 3, 7, head_dim=72, stride_k_g=80, align_k=4
    ),
    "t200-h8-pages512-page16-d128-bfloat16-int32-fp8-token": KvAppendProblem(
        200, 8, 512, 16, cache=Cache.FP8, scales=Scales.TOKEN
    ),
    "t64-h8-pages16384-page16-d128-bfloat16-int32-table-r64-c256": KvAppendProblem(
        64, 8, 16384, 16, where=Where.TABLE, requests=64, columns=256
    ),
    "t64-h8-pages16384-page16-d128-bfloat16-int32-table-r64-c256-rotary128-rows8192-hq32": KvAppendProblem(
        64, 8, 16384, 16, where=Where.TABLE, requests=64, columns=256, rotary_dim=128, table_rows=8192, heads_q=32
    ),
    "t0-h4-pages2-page8-d64-bfloat16-int32": KvAppendProblem(0, 4, 2, 8, head_dim=64),
}
_CODES = KvAppendProblem(9, 3, 5, 3, head_dim=72, value_dim=40, cache=Cache.INT8, scales=Scales.TOKEN)
SMALL_PROBLEMS = (
    KvAppendProblem(6, 2, 3, 4, head_dim=16),
    KvAppendProblem(9, 3, 5, 3, head_dim=7, value_dim=5, dtype=FLOAT16, slot_dtype=INT64),
    _CODES,
    KvAppendProblem(9, 3, 5, 3, head_dim=12, dtype=FLOAT16, cache=Cache.FP8, scales=Scales.HEAD, stride_kscale_w=2),
    KvAppendProblem(9, 3, 5, 3, head_dim=12, value_dim=20, cache=Cache.INT8),
    KvAppendProblem(9, 2, 5, 4, head_dim=12, where=Where.ROWS, requests=3),
    KvAppendProblem(
        8, 2, 7, 3, head_dim=12, cache=Cache.INT8, scales=Scales.TOKEN, where=Where.TABLE, requests=2, columns=4
    ),
    # Heads are rotated: halves and neighbours, by length and by position, some without slots and beyond the table.
    KvAppendProblem(7, 2, 3, 2, head_dim=12, value_dim=4, rotary_dim=8, table_rows=5, heads_q=3, stride_q_h=16),
    KvAppendProblem(6, 1, 5, 3, 10, where=Where.ROWS, requests=2, rotary_dim=10, interleaved=True, table_rows=4),
    KvAppendProblem(
        *(6, 2, 9, 3, 14, 6),
        dtype=FLOAT16,
        where=Where.TABLE,
        requests=3,
        columns=3,
        cache=Cache.FP8,
        scales=Scales.TOKEN,
        rotary_dim=4,
        interleaved=True,
        table_rows=40,
        heads_q=1,
    ),
    # Heads ahead of slots, and gaps.
    KvAppendProblem(20, 2, 4, 6, head_dim=8, stride_keys_g=48, stride_keys_s=8, stride_values_s=40),
)
MOST = 6
OWN_CASES = [
    (SMALL_PROBLEMS[1], KvAppendSchedule()),
    (SMALL_PROBLEMS[-1], KvAppendSchedule(64, 4)),
    (_CODES, KvAppendSchedule(64, 1)),
    (_CODES, KvAppendSchedule(64, 8)),
    (SMALL_PROBLEMS[3], KvAppendSchedule(64, 4)),
    *((SMALL_PROBLEMS[7], KvAppendSchedule(64, width)) for width in (1, 2, 4)),
    *((SMALL_PROBLEMS[8], KvAppendSchedule(64, width)) for width in (1, 2)),
    (SMALL_PROBLEMS[9], KvAppendSchedule(64, 2)),
    (KvAppendProblem(3, 1, 2, 3, head_dim=128, rotary_dim=128, table_rows=9, heads_q=2), KvAppendSchedule(64, 1)),
]
