"""The third operator of the proof: lists of arrays, each with bounds of its own."""

import os
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from export.exports import asked_sizes, assert_launched_alike, drawn
from probe_calls import edited
from refusals import refused
from scale_lists import CALL, OPERATOR, ScaleProblem, ScaleSchedule

from autotune import dispatcher
from autotune.bench.dispatch.example_call import example_call
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.lists import element
from autotune.contract.nvrtc import INCLUDE
from autotune.emulator import EmulatorError, verify
from autotune.export import write
from autotune.export.interface import header, source
from autotune.export.tables import tables
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
PROBLEM = ScaleProblem(1000)  # rows of 0, 1000, 666 and 333 elements


@pytest.mark.parametrize("problem", [PROBLEM, ScaleProblem(70, room=16), ScaleProblem(9, even=True)], ids=str)
def test_it_is_right(problem):
    program = OPERATOR.program(problem, ScaleSchedule(), H200)
    assert f"  const float* x[{problem.room}];\n  float* out[{problem.room}];\n" in program.source
    verify(problem, program)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("index < length", "index <= length", r"reads bytes \d+ to \d+ of x\[0\], which has 0 bytes"),
        ("= arguments.length[number];", "= arguments.length[1];", r"reads bytes \d+ to \d+ of x\[\d\], which has"),
        ("= arguments.x[number];", "= arguments.x[1];", r"wrong: .* \(in out\[2\]\)"),
        ("= arguments.out[number];", "= arguments.out[1];", r"race: writes byte \d+ of out\[1\]"),
        ("index < length", "index < length - 1", r"first at 999: .* \(in out\[1\]\)"),
        ("arguments.x[number]", "(number == 3 ? arguments.x[2] : arguments.x[number])", r"\(in out\[3\]\)"),
    ],
)
def test_the_bug_is_caught(old, new, error):
    with pytest.raises(EmulatorError, match=error):
        verify(PROBLEM, edited(old, new)(OPERATOR.program(PROBLEM, ScaleSchedule(), H200)))


def rows(*lengths):
    return [np.arange(1, length + 1, dtype=np.float32) for length in lengths]


@pytest.mark.parametrize("lengths", [(5,), (3, 700, 0), (1,) * 9])
def test_a_call_takes_lists(lengths):
    x = rows(*lengths)
    found = dispatcher.scale(x, alpha=2.0)
    assert isinstance(found, list)
    out = tuple(map(np.empty_like, x))
    assert dispatcher.scale(tuple(x), out=out, alpha=2.0) is out
    step = dispatcher.plan("scale", x, alpha=2.0)
    x[0] += 1
    for given, *results in zip(rows(*lengths), found, out, strict=True):
        for result in results:
            np.testing.assert_array_equal(result, 2 * given)
    np.testing.assert_array_equal(step()[0], 2 * x[0])


def test_one_plan_serves_lists_of_other_lengths():
    step = dispatcher.plan("scale", rows(5, 100, 20))
    assert step.choice
    for lengths in ((100, 1), (0, 7, 100, 100), (100,)):
        for given, result in zip(rows(*lengths), dispatcher.scale(rows(*lengths)), strict=True):
            np.testing.assert_array_equal(result, given)


def test_nothing_is_computed_of_empty_arrays():
    assert [one.shape for one in dispatcher.scale(rows(0, 0))] == [(0,), (0,)]


MEMORY = np.zeros(100, np.float32)


@pytest.mark.parametrize(
    ("x", "out", "kind", "message"),
    [
        (MEMORY, None, TypeError, "x is a ndarray: expected a list or a tuple of arrays"),
        ([], None, ValueError, "x is empty: expected one array or more"),
        (rows(1, 2), MEMORY, TypeError, "out is a ndarray: expected a list or a tuple of arrays"),
        (rows(1, 2), rows(1), ValueError, "out has 1 arrays: expected 2"),
        (rows(1, 2), rows(1, 3), ValueError, "out[1] has shape (3,): expected (2,)"),
        ([*rows(1), None], None, TypeError, "x[1] is a NoneType: expected a NumPy array"),
        ([*rows(1), np.zeros(2)], None, TypeError, "x[1] has shape (2,) and dtype float64: expected one axis"),
        ([*rows(1), MEMORY[::2]], None, ValueError, "x[1] has shape (50,) and strides (2,): expected a contiguous"),
        (rows(*[1] * 17), None, ValueError, "x has 17 arrays: expected 16 at most"),
        ([MEMORY[:5], MEMORY[5:9]], [MEMORY[20:25], MEMORY[4:8]], ValueError, "out[1] overlaps x[0]"),
        (rows(3, 9, 3), [MEMORY[:3], MEMORY[9:18], MEMORY[2:5]], ValueError, "out[2] overlaps out[0]"),
    ],
)
def test_what_is_wrong_names_the_element(x, out, kind, message):
    for _ in range(2):
        with pytest.raises(kind, match=re.escape(message)):
            dispatcher.scale(x, out=out)


def test_addresses_are_looked_at_in_each_call():
    dispatcher.scale([MEMORY[:5]], out=[MEMORY[5:10]])
    with pytest.raises(ValueError, match=re.escape("out[0] overlaps x[0]")):
        dispatcher.scale([MEMORY[:5]], out=[MEMORY[4:9]])
    frozen = MEMORY[50:55]
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match=re.escape("out[0] is read-only")):
        dispatcher.scale([MEMORY[:5]], out=[frozen])


test_lists_are_plain_inputs_and_outputs = refused(
    lambda **changes: replace(CALL, **changes),
    [({"updates": ("x",)}, "'x' is a list"), ({"lists": ("alpha",)}, "'alpha' is a list")],
)


def test_more_arrays_than_a_launch_takes_are_refused():
    program = OPERATOR.program(PROBLEM, ScaleSchedule(), H200)
    more = tuple(Argument(element("more", number), "const float*", 0) for number in range(4096))
    with pytest.raises(EmulatorError, match="scale takes arguments of 32872 bytes: a launch has 32764 at most"):
        verify(PROBLEM, replace(program, arguments=(*program.arguments, *more)))


def test_pytorch_knows_lists():
    torch = pytest.importorskip("torch")
    from autotune.torch.operators import _Operator
    from autotune.torch.schema import schema

    assert schema(OPERATOR.call) == "(Tensor[] x, float alpha=1.0) -> Tensor[]"
    scale = _Operator(OPERATOR.call, None).function()
    x = [torch.from_numpy(one) for one in rows(5, 0, 40)]
    torch.library.opcheck(torch.ops.autotune.scale.default, (x, 2.0), {})

    @torch.compile(fullgraph=True, backend="aot_eager")
    def doubled(x):
        return [2 * one for one in scale(x, alpha=2.0)]

    for found, factor in ((scale(x, alpha=2.0), 2), (doubled(x), 4)):
        assert len(found) == 3
        for one, given in zip(found, x, strict=True):
            torch.testing.assert_close(one, factor * given)


def test_an_example_call_is_known():
    example = example_call(OPERATOR, PROBLEM)
    assert [example.shape(f"x[{number}]") for number in range(4)] == [(0,), (1000,), (666,), (333,)]
    bound = example.bound({name: np.empty(example.shape(name), np.float32) for name in example.tensors})
    assert [len(bound.arguments[name]) for name in ("x", "out")] == [4, 4]


def test_cpp_takes_lists(tmp_path):
    exported = drawn(OPERATOR, 4, ("longest",))
    assert_launched_alike(exported, asked_sizes(exported), tmp_path, tables(exported))
    parameters = "const CUdeviceptr* x, const CUdeviceptr* out, long long longest, const long long* length, float alpha"
    assert f"CUresult autotune_scale({parameters}, CUdeviceptr workspace" in header(exported)
    assert "brought[] = {&x[0], &x[1], &x[2], &x[3], &out[0]," in source(exported)
    write.write_sources(exported, tmp_path)
    command = [os.environ.get("CXX", "g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", INCLUDE, "-c"]
    subprocess.run([*command, "example.cpp", "scale.cpp"], cwd=tmp_path, check=True)
