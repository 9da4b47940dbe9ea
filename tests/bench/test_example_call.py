"""Calls that are found to compute a problem, for every operator that users can call."""

import json
from dataclasses import dataclass, replace
from types import MappingProxyType, SimpleNamespace

import pytest

from autotune.bench.dispatch.example_call import example_call, is_ordinary, problem_of_sizes
from autotune.bench.dispatch.host_time import _with_members, launches_barely
from autotune.bench.dispatch.process_start import described
from autotune.bench.dispatch.random_sizes import random_sizes
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Role, Tensor
from autotune.search_spaces.contract.call import Binding, Call
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
SGEMM = operator("sgemm")


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("size", [64, 1])
def test_every_operator_can_be_called_for_an_ordinary_problem(name, size):
    problem = problem_of_sizes(operator(name).problem_type, lambda *_: size)
    call = example_call(operator(name), problem)
    assert set(call.tensors) <= set(call.call.arrays)
    assert sorted(tensor.name for tensor in call.tensors.values()) == sorted(t.name for t in problem.tensors)
    bound = call.bound({name: name for name in call.tensors})
    assert set(bound.arguments.values()) >= set(call.call.inputs[:1])
    assert json.loads(json.dumps(described(operator(name), problem)))["operator"] == name


def test_arrays_have_the_axes_that_the_call_takes():
    call = example_call(SGEMM, SGEMM.problem_type(1, 5, 7))
    assert {name: (call.shape(name), call.strides(name)) for name in call.tensors} == {
        "a": ((1, 7), (7, 1)),
        "b": ((7, 5), (5, 1)),
        "out": ((1, 5), (5, 1)),
    }
    bound = call.bound({"a": "A", "b": "B", "out": "C"})
    assert (bound.args, bound.kwargs) == (("A", "B"), {"out": "C"})


def test_no_call_is_bound_whose_arrays_the_operator_refuses():
    """`bind` relies on what `types` has checked."""
    call, refused = SGEMM.call, ValueError("a has shape (1, 7)")

    def types(**_):
        raise refused

    def bind(**_):
        raise AssertionError("bound")

    with pytest.raises(ValueError, match="no call of sgemm"):
        example_call(replace(SGEMM, call=replace(call, types=types, bind=bind)), SGEMM.problem_type(1, 5, 7))


def toy(x, mask=None, dim=-1, *, out=None, stream=None):
    """Values and indices along an axis."""


@dataclass(frozen=True)
class ToyProblem:
    """Of `rows` × `columns`; `masked` if there is a mask."""

    rows: int
    columns: int
    dim: int = 1
    masked: bool = False
    key = "toy"
    layouts = scalars = MappingProxyType({})

    def tensors_with(self, scalars):
        return self.tensors

    @property
    def tensors(self):
        shape = (self.rows, self.columns)
        mask = [Tensor("m", DType.UINT8, shape, (self.columns, 1), Role.INPUT, 16)] if self.masked else []
        return (
            *mask,
            Tensor("source", DType.BFLOAT16, shape, (self.columns, 1), Role.INPUT, 16),
            Tensor("where", DType.INT64, (self.rows,), (1,), Role.OUTPUT, 16),
            Tensor("values", DType.BFLOAT16, (self.rows,), (1,), Role.OUTPUT, 16),
        )


def bind_toy(x, mask, dim, values, indices):
    if (x.dtype, indices.dtype, mask.dtype if mask else "uint8") != ("bfloat16", "int64", "uint8"):
        raise TypeError("no such dtypes")
    problem = ToyProblem(*x.shape, dim, mask is not None)
    return Binding(problem, {"x": "source", "mask": "m", "values": "values", "indices": "where"})


TOY = Call(toy, ("x", "mask"), ("values", "indices"), bind_toy, lambda **_: {}, optional=("mask",))


@pytest.mark.parametrize(
    ("problem", "inputs"), [(ToyProblem(3, 4, dim=0), {"x"}), (ToyProblem(1, 4, masked=True), {"x", "mask"})]
)
def test_several_outputs_optional_arrays_and_options(problem, inputs):
    call = example_call(SimpleNamespace(name="toy", call=TOY), problem)
    assert set(call.tensors) == inputs | {"values", "indices"}
    bound = call.bound({name: name for name in call.tensors})
    mask = "mask" if problem.masked else None
    assert bound.arguments == {"x": "x", "dim": problem.dim, "out": ("values", "indices")} | (
        {"mask": mask} if mask else {}
    )


def test_an_operator_without_a_call_is_said():
    with pytest.raises(ValueError, match=r"^toy has no call$"):
        example_call(SimpleNamespace(name="toy", call=None), ToyProblem(3, 4))


def test_a_problem_that_the_call_does_not_compute_is_said():
    with pytest.raises(
        ValueError, match=r"no call of sgemm is known to compute m4-n5-k6-nt: a has shape \(4, 6\) and b"
    ):
        example_call(SGEMM, SGEMM.problem_type(4, 5, 6, transpose_b=True))


def test_ordinary_problems_differ_in_sizes_only():
    assert is_ordinary(SGEMM.problem_type(4, 5, 6))
    assert not is_ordinary(SGEMM.problem_type(4, 5, 6, batch=2))
    assert not is_ordinary(SGEMM.problem_type(4, 5, 6, lda=8))


@pytest.mark.parametrize("name", OPERATORS)
def test_random_sizes_are_the_same_each_time(name):
    first, again = (random_sizes(operator(name), [], H200, 8) for _ in range(2))
    assert first == again
    assert len(first) == 8
    assert all(is_ordinary(case.problem) for case in first)
    assert len({case.problem for case in first}) > 4


@pytest.mark.parametrize("name", OPERATORS)
def test_the_barest_launch_passes_the_arguments_one_by_one(name):
    chosen = operator(name)
    problem = problem_of_sizes(chosen.problem_type, lambda *_: 64)
    program = chosen.program(problem, chosen.default(problem, H200), H200)
    if not launches_barely(program):
        return
    source = _with_members(program)
    assert "(const Arguments arguments)" not in source
    first = program.arguments[0]
    assert f"{program.name}({first.cuda_type} {first.name}_, " in source
