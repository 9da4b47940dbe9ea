"""dropout's problems for the contract."""

from autotune.codegen.streaming.dropout.problem import DTYPES, DropoutProblem, Mask
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
FLOAT32, BFLOAT16, FLOAT16 = DTYPES
BYTES, BITS = Mask.BYTES, Mask.BITS

PROBLEMS = {
    "rows1-columns16777216-float32-nomask": DropoutProblem(4096, 4096),
    "rows4096-columns4096-bfloat16-bias-residual-nomask": DropoutProblem(4096, 4096, BFLOAT16, True, True),
    "rows1-columns2147483649-float16-nomask": DropoutProblem(1, 2**31 + 1, FLOAT16),
    "rows100000-columns40000-bfloat16-bias-bits-alignmask1": DropoutProblem(
        10**5, 40000, BFLOAT16, True, mask=BITS, align_mask=1
    ),
    "rows300-columns70-float16-bytes-state-ldx72-alignx4-ldy72": DropoutProblem(
        300, 70, FLOAT16, mask=BYTES, state=True, ldx=72, ldy=72, align_x=4
    ),
    "rows1-columns1-float32-nomask": DropoutProblem(1, 1),
    "rows1-columns0-float32-bits": DropoutProblem(7, 0, mask=BITS),
    "rows0-columns5-bfloat16-bias-nomask": DropoutProblem(0, 5, BFLOAT16, True),
}
SMALL_PROBLEMS = (
    DropoutProblem(4, 512),
    DropoutProblem(5, 513, BFLOAT16, True, True),
    DropoutProblem(3, 75, FLOAT16, state=True, mask=BITS),
    DropoutProblem(7, 51, FLOAT32, True, True, BYTES, ldx=52, ldy=56, ldr=52, align_x=8),
)
