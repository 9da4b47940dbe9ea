"""Which gemv schedules are legal, which come first, and what the model makes of them."""

from dataclasses import replace

import pytest
from matmul.gemv_cases import BF16, INT4, INT8, KN, SPEC
from refusals import illegal, refused

from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.matmul.gemv import OPERATOR

LAYER = GemvProblem(4096, 4096)
HALF = GemvProblem(4096, 4096, dtype=BF16)
LEAST_IN_FLIGHT = 48 << 10  # bytes for each SM that hide the latency of device memory (Little's law)
CORES = "kernel=tensor_core"
VIOLATIONS = {
    LAYER: {
        "threads=64 TPO=128": "threads_per_output 128 over the 64 threads of a block",
        "stages=2 vector_width=4 weight_loads=no_allocate": "weight_loads no_allocate: expected cached for stages 2, "
        "which copy",
        "shared_x=1": "shared_x: expected 2 stages or more",
        "strips=4 loads_in_flight=8": "strips 4 × loads_in_flight 8 over 16",
        CORES: "tensor_core: expected 16-bit numbers and order nk, not float32 and nk",
    },
    GemvProblem(64, 64, align_w=8): {"vector_width=4": "vector_width 4 over the 2 elements that W is aligned for"},
    GemvProblem(8, 8, dtype=BF16): {"stages=2": "vector_width 1: 2 bytes, cp.async copies 4 or more"},
    GemvProblem(64, 64, 2, KN): {
        "shared_x=1 stages=2 vector_width=4": "shared_x: expected order nk, and vectors x stored as m×k",
    },
    GemvProblem(64, 64, dtype=BF16, align_x=2): {
        "shared_x=1 stages=2 vector_width=4": "shared_x: x is aligned for 2 bytes, cp.async copies 4 or more",
    },
    GemvProblem(4096, 4096, 16, KN): {"strips=4 vector_width=4": "256 sums of a thread over 128"},
    GemvProblem(4096, 96): {"cluster=4 splits=2": "cluster 4 × splits 2 over the 3 steps along k"},
    GemvProblem(2**30, 4096, 16): {
        "splits=16": f"a workspace of {(2**27 * 8 * 16 * 16 + 2**27) * 4} bytes over {2**30}",
    },
    HALF: {
        f"{CORES} vector_width=4": "strips 1: tensor cores take 2 at least",
        f"{CORES} strips=2": "vector_width 1: tensor cores take 4 at least",
        f"{CORES} TPO=2 strips=2": "threads_per_output 2: tensor cores take 4 to 32",
        f"{CORES} TPO=64 strips=2": "threads_per_output 64: tensor cores take 4 to 32",
        f"{CORES} strips=2 vector_width=4 spread_x=1": "spread_x: expected quantised weights, not plain",
    },
    GemvProblem(64, 4096, dtype=BF16, weights=INT4, group_size=64): {
        f"{CORES} strips=2 vector_width=16": "vector_width 16: 4 lanes load 128 weights, over the 64 of a group",
    },
}


test_a_violation_has_its_values = illegal(OPERATOR, VIOLATIONS, "fma")


def test_a_shared_matrix_is_read_once():
    problem = GemvProblem(5, 7, 2, batch=3)
    assert problem.work.bytes == 4 * (2 * 7 + 5 * 7 + 3 * 2 * 5)
    apart = GemvProblem(5, 7, 2, batch=3, stride_x=14, stride_w=35, bias=True, beta_nonzero=True)
    assert apart.work.bytes == 4 * (3 * 2 * 7 + 3 * 5 * 7 + 5 + 2 * 3 * 2 * 5)


def test_scales_are_read_once_and_weights_of_4_bits_are_half_bytes():
    problem = GemvProblem(5, 77, 2, dtype=BF16, weights=INT4, group_size=32, zeros=True)
    assert problem.work.bytes == 2 * 2 * 77 + 5 * 39 + 5 * 3 * (4 + 1) + 2 * 2 * 5


@pytest.mark.parametrize(("order", "m", "slower"), [("nk", 2, 1.25), ("nk", 8, 2.25), ("kn", 2, 1.25), ("kn", 8, 1.3)])
def test_few_columns_are_promised_near_the_speed_of_memory(order, m, slower):
    """Where neighbours of W meet rows of x, W comes in words, of which an SM issues fewer bytes.

    With 16 rows of x, 1024×500000 took 2.26 times as long as its bytes.
    """
    problem = GemvProblem(65536, 1024, m, WeightOrder(order), transpose_x=True, transpose_y=True)
    seconds = min(modelled_seconds(OPERATOR, problem, seed, SPEC) for seed in OPERATOR.seeds(problem, SPEC))
    assert seconds < slower * problem.work.bytes / SPEC.bandwidth


def test_copies_in_words_are_promised_less_than_loads_of_words():
    """On an H100, 4095×8193 took 67 µs by copies and 51 by loads."""
    problem = GemvProblem(4095, 8193)
    copied = FmaSchedule(256, 32, strips=4, stages=4, cluster=2, min_blocks_per_sm=3)
    loaded = FmaSchedule(256, 32, strips=2, loads_in_flight=8, min_blocks_per_sm=2)
    slow, fast = (modelled_seconds(OPERATOR, problem, schedule, SPEC) for schedule in (copied, loaded))
    assert slow > 1.1 * fast


test_weights_that_cannot_be = refused(
    lambda **fields: GemvProblem.from_dict({"n": 64, "k": 64} | fields),
    [
        ({"weights": "int4"}, "group_size=0: expected 32 or 64 or 128 for weights=int4"),
        ({"weights": "fp8", "group_size": 32}, "group_size=32: expected 0 or 128 for weights=fp8"),
        ({"group_size": 32}, "group_size=32: expected 0 for weights=plain"),
        ({"weights": "int8", "order": "kn"}, "order=kn: expected nk for weights=int8"),
        ({"weights": "int8", "zeros": True}, "zeros=True: expected weights=int4, not int8"),
        ({"weights": "int8", "transpose_x": True}, "transpose_x=True: expected weights=plain, not int8"),
        ({"scale_dtype": "float16"}, "scale_dtype=float16: expected float32 for weights=plain"),
    ],
)


def test_tensor_cores_are_tried_where_they_can_multiply():
    for problem, spec, tried in (
        (HALF, "h200", True),
        (LAYER, "h200", False),
        (replace(HALF, order=KN), "h200", False),
        (replace(HALF, align_w=4), "h200", False),
        (replace(HALF, transpose_x=True, ldx=0), "h200", False),
        (HALF, "t4", False),
        (GemvProblem(64, 64, dtype=BF16, weights=INT8), "a100", True),
    ):
        kernels = {seed.kernel for seed in OPERATOR.seeds(problem, named_device(spec))}
        assert ("tensor_core" in kernels) == tried
    many = replace(HALF, m=16)
    assert OPERATOR.default(many, SPEC).kernel == "tensor_core"
    assert OPERATOR.default(HALF, SPEC).kernel == "fma"


def in_flight(problem, schedule, spec):
    """Bytes of W that the loads of an SM's resident blocks ask for at once."""
    footprint = schedule.footprint(problem)
    resident = blocks_per_sm(spec, footprint.threads, footprint.registers, footprint.shared_bytes)
    blocks = min(resident, -(-schedule.blocks(problem) // spec.sm_count))
    vectors = schedule.strips * schedule.loads_in_flight * schedule.vector_width
    return blocks * schedule.threads * vectors * problem.dtype.bytes


@pytest.mark.parametrize("order", WeightOrder)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("n", "k"), [(4096, 4096), (28672, 4096), (4096, 14336), (3584, 18944)])
def test_the_default_has_enough_bytes_in_flight(order, dtype, n, k):
    problem = GemvProblem.from_dict({"n": n, "k": k, "order": order, "dtype": dtype})
    assert in_flight(problem, OPERATOR.default(problem, SPEC), SPEC) >= LEAST_IN_FLIGHT


def test_clusters_and_copies_only_where_there_are_any():
    h200, a100, t4 = (OPERATOR.seeds(LAYER, named_device(name)) for name in ("h200", "a100", "t4"))
    assert {seed.cluster for seed in h200} > {1} == {seed.cluster for seed in a100}
    assert {seed.stages for seed in a100} > {1} == {seed.stages for seed in t4}


def test_the_model_knows_narrow_loads_and_few_blocks():
    problem = GemvProblem(4096, 14336, dtype=BF16)
    default = OPERATOR.default(problem, SPEC)
    seconds = modelled_seconds(OPERATOR, problem, default, SPEC)
    bytes_bound = problem.work.bytes / SPEC.bandwidth
    assert bytes_bound < seconds < 3 * bytes_bound
    narrow = replace(default, vector_width=1, loads_in_flight=1, strips=1, splits=1)
    assert modelled_seconds(OPERATOR, problem, narrow, SPEC) > 1.5 * seconds


def test_a_strip_of_loads_for_many_vectors_of_columns():
    """On an H200, 180 µs, and 213 by the fastest of the others; three blocks of an SM have 168 registers a thread."""
    problem = GemvProblem(28672, 4096, m=16, order=KN)
    seconds = {
        seed: modelled_seconds(OPERATOR, problem, seed, SPEC)
        for seed in OPERATOR.seeds(problem, SPEC)
        if seed.kernel == "fma"
    }
    best = min(seconds, key=seconds.__getitem__)
    assert (best.threads, best.threads_per_output, best.strips, best.loads_in_flight) == (128, 32, 1, 8)
    staged = FmaSchedule(128, 16, 2, 4, 1, stages=3, min_blocks_per_sm=2)
    assert staged.footprint(problem).wanted_registers == pytest.approx(168, rel=0.03)


def test_x_is_waited_for_where_only_weights_are_copied():
    """On an H200, 38 µs, and 33 with x in shared memory, too."""
    problem = GemvProblem(6144, 4096, m=16)
    like = FmaSchedule(128, 16, 4, 4, 1, stages=3, cluster=2, min_blocks_per_sm=3)
    shared = replace(like, shared_x=True)
    slow, fast = (modelled_seconds(OPERATOR, problem, one, SPEC) for one in (like, shared))
    assert slow > 1.1 * fast


def test_a_single_transposed_vector_is_loaded_like_any_other():
    """On an H200, 511×8192 takes 7.8 µs by loads of 16 bytes in a kernel for its shape, and 11.2 by those of a word."""
    column, row = (GemvProblem(511, 8192, transpose_x=one, transpose_y=one) for one in (True, False))
    widest = {seed.vector_width for seed in OPERATOR.seeds(column, SPEC)}
    assert widest == {seed.vector_width for seed in OPERATOR.seeds(row, SPEC)} == {4}
