"""Programs of several sources: arguments of launches, repetitions, memsets, and a workspace that parts share."""

import ctypes
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sort_program import COUNT, passes, reverse, sort, sorted_backwards

from autotune.codegen.model import packing
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch, Memset, Region
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.workspace import Lifetime, laid_out
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined
from autotune.codegen.source.listing import listing
from autotune.compiler import compile_kernel
from autotune.devices import launcher
from autotune.devices.launcher import LoadedProgram
from autotune.emulator import SEEDS, EmulatorError, run

TENSORS = (
    Tensor.flat("x", DType.UINT32, COUNT, Role.INPUT, 4),
    Tensor.flat("y", DType.UINT32, COUNT, Role.OUTPUT, 4),
)

# Two values of each digit: every pass counts.
NUMBERS = np.random.default_rng(0).integers(0, 2**32, COUNT, dtype=np.uint32) & np.uint32(0x11111111)


def check(program):
    arrays = {"x": NUMBERS.copy(), "y": np.zeros(COUNT, np.uint32)}
    run(program, TENSORS, arrays, {}, runs=2)
    np.testing.assert_array_equal(arrays["y"], np.sort(NUMBERS)[::-1])


def test_two_programs_sort_numbers_and_write_them_backwards():
    program = sorted_backwards()
    assert program.tensor_names == {"x", "y"}
    assert [len(program.steps), len(program.unrolled), len(program.launches)] == [8, 25, 17]
    assert program.scratch
    assert program.then(reverse()).workspace_bytes == program.workspace_bytes
    check(program)


@pytest.mark.parametrize(
    "plant",
    [
        lambda: sorted_backwards(sort(passes(start=9))),
        lambda: sorted_backwards(sort(passes(step=3))),
        lambda: sorted_backwards(sort(passes(times=5))),
        lambda: replace(sorted_backwards(), steps=sorted_backwards().launches),
    ],
    ids=["first shift", "step of shifts", "times", "memsets"],
)
def test_a_wrong_repetition_is_caught(plant):
    with pytest.raises((AssertionError, EmulatorError)):
        check(plant())


def test_parts_that_overlap_in_a_launch_are_caught():
    program = sorted_backwards()
    launches = [replace(one, arguments=tuple(map(_where_ping_is, one.arguments))) for one in program.launches]
    with pytest.raises(EmulatorError, match=r"scatter takes bytes 256 to .*: expected parts that do not overlap"):
        check(replace(program, steps=tuple(launches)))
    with pytest.raises(EmulatorError, match=r"count takes bytes .* of the workspace, which has 256 bytes"):
        check(replace(program, steps=program.launches[2:], workspace_bytes=256))


def test_an_error_names_the_launch_and_the_part_of_the_workspace():
    digit = "digit(arguments.source[own], arguments.shift)"
    counted = f"atomicAdd(arguments.histogram + {digit}, 1u)"
    for bug, wrong in (
        (f"arguments.histogram[{digit}] += 1", r"reads byte .* of histogram, .* \(in count 1 of 8\)"),
        (counted.replace(digit, f"16 + {digit}"), r"updates bytes .* of histogram, which has 64 bytes \(in count"),
    ):
        with pytest.raises(EmulatorError, match=wrong):
            check(sorted_backwards(replace(sort(), source=sort().source.replace(counted, bug))))


def _where_ping_is(argument):
    name, value = argument
    return (name, Region(256, value.bytes)) if name == "histogram" else argument


def test_parts_share_memory_that_never_live_together():
    lifetimes = {"a": Lifetime(0, 1), "b": Lifetime(1, 2), "c": Lifetime(2, 3), "d": Lifetime(0, 3)}
    found = laid_out({"a": 100, "b": 1000, "c": 300, "d": 8}, lifetimes, 10)
    assert found == {"a": Region(256, 100), "c": Region(256, 300), "d": Region(768, 8), "b": Region(1024, 1000)}


def test_what_a_program_keeps_is_apart_from_what_others_use():
    keeping = replace(reverse(), workspace_bytes=8)
    using = replace(reverse(), workspace_bytes=16, scratch=True)
    for first, second, size, scratch in ((keeping, using, 272, False), (using, using, 16, True)):
        joined = first.then(second)
        assert (joined.workspace_bytes, joined.scratch) == (size, scratch)


def test_names_that_nothing_takes_are_refused():
    with pytest.raises(ValueError, match="no step takes pong: expected one of histogram, ping, sorted, x"):
        sort().in_workspace(pong=8)
    with pytest.raises(ValueError, match="reverse takes z: expected one of sorted, y, count"):
        replace(reverse(), steps=(reverse().launch.taking(z=1),)).brought  # noqa: B018
    with pytest.raises(ValueError, match=r"y is a unsigned\*: it cannot be 1"):
        reverse().taking(y=1).brought  # noqa: B018


def test_the_digest_sees_what_launches_take():
    plain = reverse()
    given = plain.taking(sorted="x")
    assert given.source_digest == plain.source_digest and given.digest != plain.digest
    assert sort().then(plain).source_digest != sort().source_digest


def test_each_source_is_compiled_and_people_read_all_of_them():
    kernel = compile_kernel(sorted_backwards(), "sm_90")
    assert len(kernel.cubins) == 2
    assert kernel.others == compile_kernel(reverse(), "sm_90").cubins
    text = listing(sorted_backwards())
    assert "6 times:" in text and "shift = 8, 12, …" in text and text.count("struct Arguments") == 2


def test_launches_follow_what_a_call_brings(monkeypatch):
    """A repeated call gives each launch the addresses of that call's arrays."""
    said = []

    def launched(config, function, parameters, extra):
        first = ctypes.cast(
            ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_uint64)
        )
        said.append((first[0], first[1]))
        return (0,)

    ok = launcher.driver.CUresult.CUDA_SUCCESS
    code = SimpleNamespace(get_kernel=lambda entry: SimpleNamespace(handle=1))
    monkeypatch.setattr(launcher, "ObjectCode", SimpleNamespace(from_cubin=lambda cubin, name: code))
    monkeypatch.setattr(launcher.driver, "cuMemsetD8Async", lambda *_: (ok,))
    monkeypatch.setattr(launcher.driver, "cuLaunchKernelEx", launched)
    program = sorted_backwards()
    packed = program.pack({"x": 0x1000, "y": 0x2000, "workspace": 0x10000}, {})
    launch = LoadedProgram(compile_kernel(program, "sm_90"), program).bound(packed)
    launch(7)
    for name, address in (("x", 0x3000), ("y", 0x4000), ("workspace", 0x20000)):
        setattr(packed, name, address)
        launch(7)
    calls = [said[i : i + len(program.launches)] for i in range(0, len(said), len(program.launches))]
    assert [(first[0], last[1]) for first, *_, last in calls] == [
        (0x1000, 0x2000), (0x3000, 0x2000), (0x3000, 0x4000), (0x3000, 0x4000),
    ]  # fmt: skip
    assert [call[-1][0] - calls[0][-2][1] for call in calls] == [0, 0, 0, 0x10000]


def test_a_part_of_a_workspace_follows_it():
    blocks = [(Argument("workspace", "void*"),), (Argument("part", "void*", given="workspace", offset=256),)]
    brought = packing.brought(blocks, workspace=True)
    frame = packing.frame(["kernel"] * len(blocks), brought, blocks, {"workspace": 4096}, {})
    frame.workspace = 8192
    packing.refresher(brought, blocks, frame)()
    own, other = packing.structs_of(frame)
    assert (own.workspace, other.part) == (8192, 8448)


ARGUMENTS = (Argument("x", "const float*"), Argument("y", "float*"), Argument("workspace", "unsigned*"))

SOURCE = f"""{inlined("cuda/shared_memory.cuh")}
{cuda_arguments(ARGUMENTS)}
extern "C" __global__ void count(const Arguments arguments) {{
  const int bin = static_cast<int>(arguments.x[blockIdx.x * blockDim.x + threadIdx.x]);
  atomicAdd(arguments.workspace + bin, 1u);
  if (threadIdx.x == 0 && blockIdx.x == 0) arguments.y[0] = 7.0f;
}}
extern "C" __global__ void shift(const Arguments arguments) {{
  unsigned* shared = dynamic_shared<unsigned>();
  const unsigned t = threadIdx.x;
  shared[t] = arguments.workspace[t];
  __syncthreads();
  arguments.y[1 + t] = shared[(t + 1) % 8] + arguments.y[0];
}}
"""

X = np.random.default_rng(0).integers(8, size=256).astype(np.float32)

CLEAR, COUNTING, SHIFT = (
    Memset(0, 32),
    Launch("count", (4, 1, 1), (64, 1, 1)),
    Launch("shift", (1, 1, 1), (8, 1, 1), 32),
)

PROGRAM = Program(SOURCE, ARGUMENTS, (CLEAR, COUNTING, SHIFT), 40)

COUNTED = (
    Tensor.flat("x", DType.FLOAT32, 256, Role.INPUT, 16),
    Tensor.flat("y", DType.FLOAT32, 9, Role.OUTPUT, 16),
)


def outcome(program, seed=0, runs=1):
    y = np.full(9, np.nan, np.float32)
    run(program, COUNTED, {"x": X, "y": y}, {}, seed=seed, runs=runs)
    return y


@pytest.mark.parametrize("runs", [1, 2])
def test_steps_run_in_order_on_one_workspace(runs):
    counts = np.bincount(X.astype(int), minlength=8)
    for seed in SEEDS:
        np.testing.assert_array_equal(outcome(PROGRAM, seed, runs), [7, *(np.roll(counts, -1) + 7)])


def test_a_forgotten_memset_shows_in_the_second_run():
    wrong = replace(PROGRAM, steps=(COUNTING, SHIFT))
    np.testing.assert_array_equal(outcome(wrong), outcome(PROGRAM))
    assert (outcome(wrong, runs=2) != outcome(PROGRAM)).any()


def test_a_memset_sets_its_bytes_alone():
    steps = (Memset(0, 40, 1), CLEAR, Memset(4, 4, 0xFF), SHIFT)
    program = replace(PROGRAM, steps=steps, source=SOURCE.replace("arguments.y[0];", "0;"))
    np.testing.assert_array_equal(outcome(program)[1:], [2.0**32, 0, 0, 0, 0, 0, 0, 0])


def test_every_launch_has_its_own_shared_memory():
    steps = (CLEAR, replace(COUNTING, shared_bytes=64), replace(SHIFT, shared_bytes=28))
    with pytest.raises(EmulatorError, match="bytes 28 to 31 of shared memory, which has 28 bytes"):
        outcome(replace(PROGRAM, steps=steps))


def test_an_output_is_read_in_no_step_before_it_is_written():
    with pytest.raises(EmulatorError, match="reads byte 0 of y, an output, before it was written"):
        outcome(replace(PROGRAM, steps=(CLEAR, SHIFT, COUNTING)))


def test_a_memset_beyond_the_workspace():
    with pytest.raises(EmulatorError, match="sets bytes 8 to 40 of the workspace, which has 40 bytes"):
        outcome(replace(PROGRAM, steps=(Memset(8, 33), COUNTING)))
