"""dropout: which elements it keeps, its kernels, schedules and calls; tests/contract runs its cases."""

import numpy as np
import pytest
from dropout_cases import BFLOAT16, BITS, BYTES, SPEC
from planted import check_caught
from refusals import illegal, refused

from autotune import dispatcher, emulator
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.philox import philox, random_words
from autotune.codegen.model.program import Program
from autotune.codegen.model.random_state import RandomState
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.source.arguments import cuda_arguments, pointer_arguments
from autotune.codegen.source.emission import inlined
from autotune.codegen.streaming.dropout.emit import emit_naive
from autotune.codegen.streaming.dropout.problem import DropoutProblem
from autotune.codegen.streaming.dropout.schedule import DropoutSchedule
from autotune.emulator import verify
from autotune.search_spaces.streaming.dropout import OPERATOR

SEED, OFFSET = 0x1234_5678_9ABC_DEF0, 0xFEDC_BA98_7654_3210

# Counter, key and words of philox4x32-10 in kat_vectors of Random123.
KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


def with_scalars(problem, **scalars):
    class Changed(DropoutProblem):
        @property
        def scalars(self):
            return {**super().scalars, **scalars}

    return Changed.from_dict(problem.to_dict())


def program(problem, words=""):
    return OPERATOR.program(problem, DropoutSchedule.parse(words.split()), SPEC)


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_gives_the_known_words(counter, key, words):
    assert philox(np.array([counter], np.uint32), (key[0], key[1])).tolist() == [list(words)]
    assert _on_device(counter, key).tolist() == list(words)


def _on_device(counter, key):
    """The words that cuda/philox.cuh computes."""
    low, high, seed = (pair[0] | pair[1] << 32 for pair in (counter[:2], counter[2:], key))
    arguments = (
        Argument("words", "unsigned*"),
        *(Argument(name, "unsigned long long") for name in ("low", "high", "seed")),
    )
    source = f"""{inlined("cuda/philox.cuh")}
{cuda_arguments(arguments)}
extern "C" __global__ void __launch_bounds__(1) kernel(const Arguments arguments) {{
  unsigned words[4];
  philox(words, arguments.low, arguments.high, arguments.seed);
  for (int i = 0; i < 4; ++i) arguments.words[i] = words[i];
}}
"""
    words = np.zeros(4, np.uint32)
    tensor = Tensor.flat("words", DType.UINT32, 4, Role.OUTPUT, 4)
    launch = Launch("kernel", (1, 1, 1), (1, 1, 1))
    emulator.run(
        Program(source, arguments, (launch,)), [tensor], {"words": words}, {"low": low, "high": high, "seed": seed}
    )
    return words


def test_numbers_are_those_of_counter_offset_and_key():
    """Beyond the first words: quad 2^32 and an offset and a seed of more than 32 bits."""
    words = random_words(9, SEED, OFFSET)
    counter = np.array([[2, 0, OFFSET % 2**32, OFFSET >> 32]], np.uint32)
    assert words[8] == philox(counter, (SEED % 2**32, SEED >> 32))[0, 0]


def test_each_row_may_have_a_state_of_its_own():
    state = RandomState(pairs=3)
    output = Tensor.flat("words", DType.UINT32, 12, Role.OUTPUT, 4)
    tensors = (*state.tensors, output)
    arguments = (*pointer_arguments(tensors), *state.arguments)
    source = f"""{inlined("cuda/random_state.cuh")}
{cuda_arguments(arguments)}
extern "C" __global__ void __launch_bounds__(3) kernel(const Arguments arguments) {{
  unsigned words[4];
  RandomState{{arguments.seed, arguments.offset}}.of_row(arguments.state, threadIdx.x).random(words, 5);
  for (int i = 0; i < 4; ++i) arguments.words[4 * threadIdx.x + i] = words[i];
}}
"""
    program = Program(source, arguments, (Launch("kernel", (1, 1, 1), (3, 1, 1)),))
    arrays = state.inputs(np.random.default_rng(0)) | {"words": np.zeros(12, np.uint32)}
    emulator.run(program, tensors, arrays, state.scalars)
    rows = [random_words(24, *pair)[20:] for pair in state.resolved(arrays, state.scalars)]
    np.testing.assert_array_equal(arrays["words"], np.concatenate(rows))


def _thresholds():
    """That of a word of the first elements is kept by, and that it is not."""
    word = int(random_words(40, SEED, OFFSET)[17])
    return [word / 2**32, (word + 1) / 2**32]


@pytest.mark.parametrize("p", [0.0, 2.0**-32, *_thresholds(), 0.5, 1 - 2.0**-24, 1.0])
def test_every_probability_is_exact(p):
    problem = with_scalars(DropoutProblem(5, 33, BFLOAT16, True, True, BYTES, ldx=40), p=p)
    verify(problem, program(problem, "threads=128 vector_width=1 items=2"), seeds=(0,))
    verify(problem, emit_naive(problem), seeds=(0,))


def test_a_threshold_is_the_least_word_that_is_kept():
    at, above = _thresholds()
    for p, kept in ((at, 1), (above, 0)):
        problem = with_scalars(DropoutProblem(1, 40, mask=BYTES), p=p)
        assert problem.reference(problem.inputs(0), problem.scalars)["mask"][17] == kept


def test_nothing_and_everything_is_kept():
    problem = DropoutProblem(3, 300)
    inputs = problem.inputs(0)
    for p, expected in ((0.0, inputs["x"]), (1.0, np.zeros_like(inputs["x"]))):
        np.testing.assert_array_equal(problem.reference(inputs, {**problem.scalars, "p": p})["y"], expected)


def test_a_mask_of_bits_is_numpys():
    plain, packed = (DropoutProblem(3, 75, mask=mask) for mask in (BYTES, BITS))
    found = [problem.reference(problem.inputs(0), problem.scalars)["mask"] for problem in (plain, packed)]
    np.testing.assert_array_equal(np.packbits(found[0], bitorder="little"), found[1])


def test_the_last_byte_of_a_mask_may_have_the_bits_of_one_thread_of_two():
    problem = DropoutProblem(3, 1204, mask=BITS)
    verify(problem, program(problem, "threads=128 vector_width=4"), seeds=(0,))


def test_the_order_of_elements_is_that_of_rows_whatever_the_layout():
    dense, gaps = DropoutProblem(5, 30, mask=BYTES), DropoutProblem(5, 30, mask=BYTES, ldx=36, ldy=33)
    masks = [problem.reference(problem.inputs(0), problem.scalars)["mask"] for problem in (dense, gaps)]
    np.testing.assert_array_equal(*masks)


def test_nothing_is_kept_where_bits_are_stored_and_p_is_1():
    problem = with_scalars(DropoutProblem(3, 1203, mask=BITS), p=1.0)
    source = program(problem, "threads=128 vector_width=4 items=2")
    check_caught(problem, source, "word < threshold || dropped", "word < threshold", seeds=(0,))


PLAIN, FUSED = DropoutProblem(4096, 4096), DropoutProblem(4096, 4096, BFLOAT16, True, True)
_BYTES_IN_FLIGHT = 48 << 10  # of an SM, to keep an H200's memory busy


test_violations_carry_the_values = illegal(
    OPERATOR,
    {
        PLAIN: {
            "threads=96": "threads 96: expected a power of two",
            "vector_width=8": "vector_width 8 over the 4 elements of aligned accesses",
        },
        DropoutProblem(2, 1000, ldx=1002): {"vector_width=4": "vector_width 4 over the 2 elements of aligned accesses"},
        DropoutProblem(1, 1 << 35): {
            "counter_words=1": "counter_words 1: expected 2 for 34359738368 elements, which are more than 17179869184"
        },
    },
)


def test_rows_of_odd_length_keep_wide_accesses():
    problem = DropoutProblem(131072, 513, BFLOAT16, True, True)
    assert OPERATOR.default(problem, SPEC).vector_width == 8


@pytest.mark.parametrize("problem", [PLAIN, FUSED, DropoutProblem(1, 1 << 28, BFLOAT16)], ids=lambda p: p.key)
def test_first_seeds_keep_memory_busy(problem):
    for schedule in OPERATOR.seeds(problem, SPEC)[:2]:
        footprint = schedule.footprint(problem)
        resident = min(2048 // footprint.threads, 65536 // (footprint.threads * footprint.registers))
        of_thread = schedule.items * schedule.vector_width * problem.dtype.bytes * (1 + problem.residual)
        assert resident * footprint.threads * of_thread >= _BYTES_IN_FLIGHT, schedule


def test_workload_counts_what_moves():
    (counted,) = OPERATOR.workload(PLAIN, DropoutSchedule(vector_width=4, items=2), SPEC)
    assert counted.blocks * counted.steps * counted.bytes_loaded == 4 << 24
    assert counted.blocks * counted.bytes_stored == 4 << 24
    assert FUSED.work.bytes == 3 * 2 * 4096 * 4096 + 2 * 4096


test_calls_say_what_they_refuse = refused(
    lambda **given: dispatcher.dropout(np.ones((4, 8), np.float32), **{"p": 0.5, "seed": 1, **given}),
    [
        ({"p": 1.5}, "p=1.5: expected 0 … 1"),
        ({"p": float("nan")}, "p=nan: expected 0 … 1"),
        ({"seed": -1}, "seed=-1: expected 0 … 18446744073709551615"),
        ({"bias": np.zeros(3, np.float32)}, "bias has shape (3,) and dtype float32: expected (8,) and float32"),
        ({"state": np.zeros(3, np.int64)}, "state has shape (3,) and dtype int64: expected (2,) and uint64 or int64"),
        ({"mask": np.zeros(8, np.uint8), "packed": True}, "mask has shape (8,): expected (4,)"),
        ({"residual": np.zeros((4, 16), np.float32)[:, ::2]}, "residual has shape (4, 8) and strides (16, 2)"),
    ],
)


def test_a_call_with_everything_is_a_call_without_and_the_rest():
    x, r, bias = np.ones((4, 40), np.float32), np.full((4, 40), 2, np.float32), np.full(40, 3, np.float32)
    mask, bits = np.empty((4, 40), np.uint8), np.empty(20, np.uint8)
    y = dispatcher.dropout(x, 0.5, 3, 5, mask=mask)
    state = np.array([1, 2], np.int64)
    fused = dispatcher.dropout(x, 0.5, 2, 3, bias=bias, residual=r, state=state, packed=True, mask=bits)
    np.testing.assert_array_equal(y, 2.0 * mask)
    np.testing.assert_array_equal(fused, 8.0 * mask + 2)
    np.testing.assert_array_equal(bits, np.packbits(mask, bitorder="little"))
    assert 40 < mask.sum() < 120


def test_bits_of_rows_with_gaps_begin_with_bytes():
    with pytest.raises(ValueError, match=r"^columns=75: expected a multiple of 8 for mask=bits"):
        DropoutProblem(3, 75, mask=BITS, ldx=80)
