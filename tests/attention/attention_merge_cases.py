"""attention_merge's problems for the contract."""

from autotune.codegen.attention.attention_merge.problem import AttentionMergeProblem
from autotune.codegen.attention.attention_merge.schedule import AttentionMergeSchedule
from autotune.codegen.model.dtype import DType

PROBLEMS = {
    "q4096-h32-d128-bfloat16": AttentionMergeProblem(4096, 32),
    "q1-h28-b64-d72-float16-lse": AttentionMergeProblem(1, 28, 64, head_dim=72, dtype=DType.FLOAT16, lse=True),
    "q5-h3-b2-d7-float32-lse-alignfirst4": AttentionMergeProblem(
        5, 3, 2, head_dim=7, dtype=DType.FLOAT32, lse=True, align_first=4
    ),
}
SMALL_PROBLEMS = (
    AttentionMergeProblem(8, 2, head_dim=16),
    AttentionMergeProblem(5, 3, 2, head_dim=7, dtype=DType.FLOAT32, lse=True),
    # Heads ahead of queries.
    AttentionMergeProblem(
        6, 2, 2, head_dim=8, dtype=DType.FLOAT16, lse=True, stride_first_h=48, stride_first_s=8, stride_o_s=24
    ),
)
OWN_CASES = [(SMALL_PROBLEMS[1], AttentionMergeSchedule()), (SMALL_PROBLEMS[2], AttentionMergeSchedule(64, 4))]
MOST = 4
