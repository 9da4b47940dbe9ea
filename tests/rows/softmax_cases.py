"""softmax's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.softmax.mask import Mask
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import SoftmaxSchedule
from autotune.codegen.rows.softmax.split.schedule import SplitSchedule
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
BF16, FP16 = DType.BFLOAT16, DType.FLOAT16
MOST = 17  # cases drawn: holds, passes, masks and clusters choose among the kernel's parts


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
_SKEWED = [
    SoftmaxProblem(9, 333, BF16, ldx=333, ldy=341),
    SoftmaxProblem(9, 333, FP16, lengths=True, ldx=334, ldy=336),  # vectors of y lie otherwise
    SoftmaxProblem(4, 301, align_x=4, align_y=4),  # where matrices begin is not known
    SoftmaxProblem(5, 2, BF16, ldx=3, ldy=3),  # a row within a vector
]
_HOLDS = ("registers", "reload loads_in_flight=2", "shared", "shared passes=online")
_WAYS = [
    *(  # a long odd row
        (SoftmaxProblem(1, 131073, BF16, align_x=2, align_y=2), words)
        for words in (
            "threads=1024 TPR=1024 cluster=8 vector_width=2 hold=registers",
            "threads=512 TPR=512 cluster=2 vector_width=8 hold=shared passes=online",
            "threads=512 TPR=512 vector_width=4 hold=reload loads_in_flight=8 passes=online",
        )
    ),
    *(  # logarithms of -infinity, of infinity, of 10^4, an online update after -infinity
        (SoftmaxProblem(20, 42, log=True, zero_rows=zero_rows, lse=True), f"threads=32 {words}")
        for zero_rows in (False, True)
        for words in ("TPR=32", "TPR=8 passes=online vector_width=2 hold=reload")
    ),
    # Flags by words; and element by element, where rows begin between vectors.
    (SoftmaxProblem(6, 40, BF16, zero_rows=True, mask=Mask.KEEP, queries=3), "threads=32 TPR=4 vector_width=8"),
    (SoftmaxProblem(6, 37, mask=Mask.KEEP, queries=3, ldx=37, ldy=37, ldm=48), "threads=32 TPR=4 vector_width=4"),
    *(  # rows that begin between vectors
        (problem, f"{lanes} vector_width={16 // problem.dtype.bytes} hold={hold}")
        for problem in _SKEWED
        for lanes in ("threads=64 TPR=16", "threads=32 TPR=32 cluster=2")
        for hold in _HOLDS
    ),
]
PECULIAR = [(problem, SoftmaxSchedule.parse(words.split())) for problem, words in _WAYS]
OWN_CASES = [
    (problem, SplitSchedule.parse(words.split()))
    for problem, words in (
        (SoftmaxProblem(3, 1500), "BPR=3 threads=128 vector_width=4 loads_in_flight=2"),
        (SoftmaxProblem(2, 1001, BF16, log=True, lse=True), "BPR=5 threads=32 vector_width=8 streaming=1"),
        (SoftmaxProblem(5, 333, FP16, zero_rows=True, lse=True, ldx=335, ldy=337), "BPR=2 threads=64 vector_width=2"),
        (SoftmaxProblem(4, 301, align_x=4, align_y=4), "BPR=4 threads=32 vector_width=4 specialize=shape"),
        (SoftmaxProblem(20, 42, log=True, zero_rows=True, lse=True), "BPR=2 threads=32 loads_in_flight=1"),
        (SoftmaxProblem(1, 7), "BPR=9 threads=32"),  # most pieces are empty
    )
]
