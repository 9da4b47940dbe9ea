"""softmax's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.softmax.mask import Mask
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
BF16, FP16 = DType.BFLOAT16, DType.FLOAT16
MOST = 40  # cases: holds, passes, masks and clusters choose among the kernel's parts


PROBLEMS = {
    "rows4096-columns4096-float32": SoftmaxProblem(4096, 4096),
    "rows4096-columns4096-bfloat16": SoftmaxProblem(4096, 4096, BF16),
    "rows4096-columns4096-float16-lengths": SoftmaxProblem(4096, 4096, FP16, lengths=True),
    "rows16384-columns131072-bfloat16": SoftmaxProblem(16384, 131072, BF16),
    "rows2-columns131073-float32": SoftmaxProblem(2, 131073),
    "rows1-columns1073741824-bfloat16": SoftmaxProblem(1, 2**30, BF16),
    "rows2000000000-columns4-float32": SoftmaxProblem(2 * 10**9, 4),
    "rows8192-columns513-bfloat16-alignx2-aligny2": SoftmaxProblem(8192, 513, BF16, align_x=2, align_y=2),
    "rows7-columns8191-float32-ldx8192": SoftmaxProblem(7, 8191, ldx=8192),
    "rows5-columns33-float32-lengths-ldx40-ldy48": SoftmaxProblem(5, 33, lengths=True, ldx=40, ldy=48),
    "rows5-columns31-bfloat16": SoftmaxProblem(5, 31, BF16),
    "rows300-columns1-float32": SoftmaxProblem(300, 1),
    "rows1-columns1-float16-lengths": SoftmaxProblem(1, 1, FP16, lengths=True),
    "rows0-columns5-float32-lengths": SoftmaxProblem(0, 5, lengths=True),
    "rows5-columns0-bfloat16": SoftmaxProblem(5, 0, BF16),
    "rows4096-columns4096-bfloat16-log-lse": SoftmaxProblem(4096, 4096, BF16, log=True, lse=True),
    "rows4096-columns1024-float32-causal": SoftmaxProblem(4096, 1024, causal=True),
    "rows100-columns33-float32-log-lengths-causal-zerorows-queries40": SoftmaxProblem(
        100, 33, log=True, lengths=True, causal=True, zero_rows=True, queries=40
    ),
    "rows65536-columns2048-bfloat16-addmask": SoftmaxProblem(65536, 2048, BF16, mask=Mask.ADD),
    "rows96-columns40-float16-keepmask-queries6-heads4-ldm48-alignm1": SoftmaxProblem(
        96, 40, FP16, mask=Mask.KEEP, queries=6, heads=4, ldm=48, align_m=1
    ),
}
SMALL_PROBLEMS = (
    SoftmaxProblem(16, 256),
    SoftmaxProblem(20, 520, BF16, mask=Mask.ADD, queries=5, heads=2, ldx=528, ldy=544),
    SoftmaxProblem(19, 513, FP16, log=True, lengths=True, lse=True, ldx=528, ldy=520),
    SoftmaxProblem(18, 33, lengths=True, causal=True, zero_rows=True, queries=7, align_x=4),
)
