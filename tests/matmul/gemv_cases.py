"""gemv's problems for the contract."""

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.tensor_core.schedule import TensorCoreSchedule
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 15  # cases of two kernels
FP32, BF16, FP16, KN = DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, WeightOrder.KN
FP8, INT8, INT4 = Weights.FP8, Weights.INT8, Weights.INT4


PROBLEMS = {
    "n4096-k4096-m1-nk-float32-identity": GemvProblem(4096, 4096),
    "n4096-k14336-m16-nk-bfloat16-identity": GemvProblem(4096, 14336, 16, dtype=BF16),
    "n8192-k28672-m4-kn-float16-identity": GemvProblem(8192, 28672, 4, KN, FP16),
    "n152064-k8192-m1-nk-bfloat16-batch3-bias-silu": GemvProblem(
        152064, 8192, dtype=BF16, batch=3, bias=True, activation=Activation.SILU
    ),
    "n1073741824-k1-m2-kn-float32-identity": GemvProblem(2**30, 1, 2, KN),
    "n1-k1073741824-m1-nk-float16-identity": GemvProblem(1, 2**30, dtype=FP16),
    "n33-k40-m3-nk-bfloat16-batch2-bias-gelu-beta-ldx48-ldw41-aligny2": GemvProblem(
        33, 40, 3, dtype=BF16, batch=2, bias=True, activation=Activation.GELU, beta_nonzero=True,
        ldx=48, ldw=41, align_y=2,
    ),
    "n70-k33-m5-kn-float32-gelu_tanh-ldw72-alignw8": GemvProblem(
        70, 33, 5, KN, activation=Activation.GELU_TANH, ldw=72, align_w=8
    ),
    "n1-k1-m1-nk-float32-relu": GemvProblem(1, 1, activation=Activation.RELU),
    "n5-k0-m2-nk-bfloat16-bias-relu-beta": GemvProblem(
        5, 0, 2, dtype=BF16, bias=True, activation=Activation.RELU, beta_nonzero=True
    ),
    "n0-k7-m1-kn-float32-bias-identity": GemvProblem(0, 7, order=KN, bias=True),
    "n5-k7-m0-nk-float32-identity": GemvProblem(5, 7, 0),
    "n5-k7-m1-nk-float16-batch0-identity": GemvProblem(5, 7, dtype=FP16, batch=0),
    "n4096-k14336-m1-nk-bfloat16-identity-int4-group128-bfloat16-zeros": GemvProblem(
        4096, 14336, dtype=BF16, weights=INT4, group_size=128, scale_dtype=BF16, zeros=True
    ),
    "n8192-k28672-m16-nk-float16-identity-fp8-group128": GemvProblem(
        8192, 28672, 16, dtype=FP16, weights=FP8, group_size=128
    ),
    "n4096-k4096-m1-nk-float32-identity-int8": GemvProblem(4096, 4096, weights=INT8),
    "n9-k77-m3-nk-float32-batch2-bias-relu-beta-int4-group32-float16": GemvProblem(
        9, 77, 3, batch=2, bias=True, activation=Activation.RELU, beta_nonzero=True,
        weights=INT4, group_size=32, scale_dtype=FP16,
    ),
    "n5-k0-m2-nk-bfloat16-identity-int4-group64-zeros": GemvProblem(
        5, 0, 2, dtype=BF16, weights=INT4, group_size=64, zeros=True
    ),
    "n65536-k1024-m8-nk-float32-identity-tx-ty": GemvProblem(65536, 1024, 8, transpose_x=True, transpose_y=True),
    "n33-k40-m3-kn-bfloat16-batch2-identity-beta-tx-ldx5-ldy36": GemvProblem(
        33, 40, 3, KN, BF16, batch=2, beta_nonzero=True, transpose_x=True, ldx=5, ldy=36
    ),
    "n0-k7-m1-nk-float32-identity-int8": GemvProblem(0, 7, weights=INT8),
}  # fmt: skip
SMALL_PROBLEMS = (
    GemvProblem(64, 512),
    GemvProblem(67, 264, 3, dtype=BF16, bias=True, activation=Activation.RELU),
    GemvProblem(72, 131, 2, KN, FP16, ldw=80),
    GemvProblem(67, 201, 2, dtype=BF16, weights=INT4, group_size=64, scale_dtype=BF16, zeros=True),
    GemvProblem(130, 133, 5, dtype=FP16, weights=FP8, group_size=128, scale_dtype=FP16),
    GemvProblem(33, 96, batch=2, weights=INT8, group_size=32, scale_dtype=FP16, stride_w=3200),
    GemvProblem(35, 133, 4, batch=2, bias=True, beta_nonzero=True),
)


def scheduled(words):
    """The default schedule of fma, or of tensor_core after ``kernel=tensor_core``, changed by words."""
    kind = TensorCoreSchedule if "kernel=tensor_core" in words else FmaSchedule
    return kind.parse(words.split())


_SKEWED = {WeightOrder.NK: 8192, KN: 12}
_GROUPED = {"weights": INT4, "group_size": 128, "zeros": True}
_CORES = "kernel=tensor_core"
# Vectors that are several columns of a product of tensor cores, in matrices of whole groups and of others.
_SPREAD = [
    ({**_GROUPED, "dtype": BF16}, 1, "strips=2 loads_in_flight=8 vector_width=16 TPO=8"),
    ({**_GROUPED, "group_size": 64, "dtype": FP16}, 1, "strips=4 loads_in_flight=4 vector_width=8 TPO=4"),
    ({"weights": INT8, "dtype": BF16}, 1, "strips=2 loads_in_flight=2 vector_width=16 stages=3 TPO=8"),
    ({**_GROUPED, "dtype": BF16}, 2, "strips=2 loads_in_flight=8 vector_width=16 stages=2 shared_x=1 TPO=4"),
    ({"weights": FP8, "group_size": 128, "dtype": FP16}, 3, "strips=2 loads_in_flight=4 vector_width=8 TPO=8"),
    ({**_GROUPED, "group_size": 32, "dtype": FP16}, 4, "strips=2 loads_in_flight=2 vector_width=4 splits=2 TPO=4"),
    ({**_GROUPED, "dtype": BF16}, 5, "strips=2 loads_in_flight=8 vector_width=16 TPO=8"),
]
_WAYS = [
    *(  # long sums
        (GemvProblem(9, 8191, 2, order, ldw=ldw), f"vector_width=4 loads_in_flight=4 {words}")
        for order, ldw in _SKEWED.items()
        for words in ("TPO=32 strips=2 splits=3", "TPO=4 strips=1 cluster=4 splits=2", "TPO=16 strips=2 stages=3")
    ),
    *(  # sums over lanes come in powers of two, of which some are nobody's
        (GemvProblem(5, 40, m), f"TPO={of_output} strips={strips} vector_width=4")
        for m in (3, 13)
        for strips in (1, 4)
        for of_output in (4, 64)
    ),
    *(  # columns as vectors, of matrices with gaps, rows of which are loaded in vectors where they are aligned
        (
            GemvProblem(13, 269, m, order, transpose_x=True, transpose_y=True, ldx=m if m < 4 else 12, ldy=m + 2),
            "TPO=16 strips=2 vector_width=1 loads_in_flight=4 cluster=2 splits=2",
        )
        for m in (3, 8)
        for order in WeightOrder
    ),
    # x that a block shares: whole tiles, an edge within a piece of x, and threads that read what others copied.
    (GemvProblem(19, 141, 5, ldx=144, ldw=144), "TPO=8 strips=4 vector_width=4 stages=3 shared_x=1"),
    (
        GemvProblem(37, 203, 11, dtype=BF16, ldx=208, ldw=208, batch=2),
        f"threads=128 TPO=8 strips=2 vector_width=8 stages=4 shared_x=1 {_CORES} cluster=2",
    ),
    (
        GemvProblem(37, 525, 2, dtype=BF16, **_GROUPED, ldx=528, ldw=272),
        f"TPO=4 strips=2 vector_width=16 stages=2 shared_x=1 {_CORES} splits=2",
    ),
    (GemvProblem(9, 200, 2, batch=2), "TPO=32 cluster=2 splits=2"),  # groups of outputs are counted apart
    *(  # any number of vectors for tensor cores
        (GemvProblem(37, 131, m, dtype=BF16, ldw=136, ldx=132, beta_nonzero=True), f"{words} vector_width=8 {_CORES}")
        for m in (1, 3, 8, 13)
        for words in ("TPO=4 strips=4", "TPO=8 strips=2 splits=2", "TPO=8 strips=2 stages=2")
    ),
    *(  # long rows of groups
        (
            GemvProblem(9, 8191, 2, dtype=FP16, **_GROUPED, scale_dtype=FP16, ldx=8192),
            f"TPO=8 strips=2 splits=3 {words}",
        )
        for words in (
            "vector_width=2 loads_in_flight=4",
            f"vector_width=4 {_CORES} stages=3",
            f"vector_width=4 {_CORES} spread_x=1 stages=3",
            "vector_width=4 loads_in_flight=2 stages=2 shared_x=1",
        )
    ),
    *(
        (
            GemvProblem(21, k, m, ldw=2048, ldx=2048, scale_dtype=BF16, **kinds),
            f"{words} {_CORES} spread_x=1",
        )
        for kinds, m, words in _SPREAD
        for k in (2048, 1321)
    ),
]
PECULIAR = [(problem, scheduled(words if "threads=" in words else f"threads=64 {words}")) for problem, words in _WAYS]
