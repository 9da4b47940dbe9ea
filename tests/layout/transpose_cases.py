"""transpose's problems for the contract."""

from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 14  # cases: each of the sides may be aligned, ragged and padded


PROBLEMS = {
    **{f"m1024-n4096-e{size}": TransposeProblem(1024, 4096, size) for size in ELEMENT_BYTES},
    "m1023-n1025-e1-aligna1": TransposeProblem(1023, 1025, 1, align_a=1),
    "m1023-n1025-e2-aligna2": TransposeProblem(1023, 1025, 2, align_a=2),
    "m1023-n1025-e4-aligna4": TransposeProblem(1023, 1025, 4, align_a=4),
    "m1023-n1025-e8-aligna8": TransposeProblem(1023, 1025, 8, align_a=8),
    "m1023-n1025-e16": TransposeProblem(1023, 1025, 16),
    "m16384-n32768-e4": TransposeProblem(16384, 32768),
    "m3-n1000000000-e1": TransposeProblem(3, 10**9, 1),
    "m1-n70-e4-lda2147483648": TransposeProblem(1, 70, lda=2**31),
    "m1-n300-e4": TransposeProblem(1, 300),
    "m300-n1-e4": TransposeProblem(300, 1),
    "m1-n1-e4": TransposeProblem(1, 1),
    "m0-n5-e4": TransposeProblem(0, 5),
    "m5-n0-e4": TransposeProblem(5, 0),
    "m5-n7-e4-batch0": TransposeProblem(5, 7, batch=0),
}
SMALL_PROBLEMS = (
    TransposeProblem(128, 256),
    *(TransposeProblem(67, 131, size, batch=2) for size in ELEMENT_BYTES),
)
