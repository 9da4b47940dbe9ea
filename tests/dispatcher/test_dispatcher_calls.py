"""What is derived from a stated call: its function, what the kernel gets, and which arguments are refused."""

import inspect
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from refusals import refused
from toy_call import CALL, Launches, shifted, toy

from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.dispatcher.calls.shorthand import shorthands
from autotune.dispatcher.targets import emulated
from autotune.dispatcher.targets.base import LaunchError
from autotune.emulator import EmulatorError
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.registry import operator


@pytest.fixture
def launches(monkeypatch):
    return Launches(monkeypatch)


def x(*shape, dtype=np.float32):
    return np.ones(shape or (4, 8), dtype)


def address(array):
    return array.ctypes.data


def test_the_function_has_the_signature_and_the_documentation_of_its_declaration():
    function = toy().function
    assert inspect.signature(function) == inspect.signature(shifted)
    assert (function.__name__, function.__module__) == ("shifted", "autotune.dispatcher")
    assert function.__doc__.startswith("x moved along an axis.\n\nArgs:\n    x: float32.\n")
    assert "\nRaises:\n    TypeError, ValueError" in function.__doc__


def test_the_kernel_gets_addresses_and_scalars_by_the_names_of_its_arguments(launches):
    source, mask = x(), x(8)
    out, index = toy().function(source, mask, by=2.5, seed=2**40)
    ((_, given),) = launches.launched
    assert given == {
        "source": address(source), "mask": address(mask), "y": address(out), "where": address(index), "sums": 0,
        "by": 2.5, "seed": 2**40,
    }  # fmt: skip
    assert (out.shape, out.dtype, index.shape, index.dtype) == ((4, 8), np.float32, (4,), np.int64)


def test_an_optional_output_is_computed_if_it_is_given(launches):
    total = x(4)
    assert len(toy().function(x(), total=total)) == 2
    assert launches.launched[0][1]["sums"] == address(total)
    assert launches.made[0].total


@pytest.mark.parametrize("change", [{"dim": 0}, {"mask": x(8)}, {"dim": [0, 1]}])
def test_options_and_optional_operands_decide_the_problem(launches, change):
    function, source = toy().function, x()
    for _ in range(2):
        function(source)
        function(source, **change)
        function(source, by=7.0)
    assert len(launches.made) == 2
    assert len(launches.launched) == 6


def test_an_output_may_be_an_input_where_that_is_stated(launches):
    source = x()
    out, _ = toy().function(source, out=source)
    assert out is source
    with pytest.raises(ValueError, match="out overlaps x: pass memory of its own"):
        toy(replace(CALL, in_place=())).function(source, out=source)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (lambda m: {"x": m[:4], "out": m[1:5]}, ValueError, "out overlaps x in part: pass x itself, or memory of its"),
        (lambda m: {"x": m[:4], "out": m.reshape(4, 16)[:, :8]}, ValueError, "out overlaps x in part: pass x itself"),
        (lambda m: {"x": m[:4], "mask": m[4], "out": m[4:]}, ValueError, "out overlaps mask: pass memory of its own"),
        (lambda m: {"x": x(), "out": m[:4], "total": m[0, :4]}, ValueError, "total overlaps out: pass memory"),
        (lambda m: {"x": x(dtype=np.float64)}, TypeError, "x has dtype float64: shifted takes float32"),
        (lambda m: {"x": x(), "out": x(4, 9)}, ValueError, r"out has shape \(4, 9\): expected \(4, 8\)"),
        (lambda m: {"x": x(), "index": x(4)}, TypeError, "index has dtype float32: expected int64"),
        (lambda m: {"x": None}, TypeError, "x is a NoneType: expected a NumPy array"),
        (lambda m: {"x": x(), "of": 1}, TypeError, "unexpected keyword argument 'of'"),
    ],
)
def test_bad_arguments_get_one_line(launches, arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        toy().function(**arguments(x(8, 8)))
    assert "\n" not in str(caught.value)
    assert launches.launched == []


def paired(x, dim=-1, *, out=None, stream=None):
    """Two outputs in one tuple."""


PAIRED = Call(
    declaration=paired,
    inputs=("x",),
    outputs=("value", "index"),
    types=lambda x, dim: dict.fromkeys(("value", "index"), ArrayType(x.shape, "int64")),
    bind=lambda x, dim, value, index: Binding(dim, {"value": "v"}),
)


def test_several_outputs_may_be_given_as_a_tuple(launches):
    function = toy(PAIRED).function
    out = x(dtype=np.int64), x(dtype=np.int64)
    value, index = function(x(), out=out)
    assert (value is out[0], index is out[1]) == (True, True)
    assert [array.dtype for array in function(x())] == [np.int64, np.int64]


@pytest.mark.parametrize(("out", "given"), [((1,), "a tuple of 1"), (x(), "a ndarray"), (5, "a int")])
def test_several_outputs_are_no_array_and_no_other_number(launches, out, given):
    with pytest.raises(TypeError, match=f"out is {given}: expected a tuple of 2: value, index"):
        toy(PAIRED).function(x(), out=out)


def stored(x, cache, state=None, *, stream=None):
    """x is stored in a cache."""


STORED = Call(
    declaration=stored,
    inputs=("x", "cache", "state"),
    outputs=(),
    types=lambda x, cache, state: {},
    bind=lambda x, cache, state: Binding(cache.shape, {"x": "x", "cache": "c"}),
    optional=("state",),
    updates=("cache", "state"),
)


def test_an_array_that_is_updated_is_given_and_nothing_is_returned(launches):
    function, source, cache = toy(STORED).function, x(), x(9)
    assert [function(source, cache), function(source, cache, x(3))] == [None, None]
    assert {given["c"] for _, given in launches.launched} == {address(cache)}
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'cache'"):
        function(source)
    with pytest.raises(TypeError, match="cache is a NoneType: expected"):
        function(source, None)
    readonly = x(9)
    readonly.flags.writeable = False
    with pytest.raises(ValueError, match="cache is read-only"):
        function(source, readonly)


def test_an_array_that_is_updated_overlaps_no_other(launches):
    function, memory = toy(STORED).function, x(8, 8)
    for wrong in (memory[3:4], memory[4:], memory[2:6, :2]):
        with pytest.raises(ValueError, match="cache overlaps x: pass memory of its own"):
            function(wrong, memory[:5] if wrong.shape == (1, 8) else memory[3:])
    with pytest.raises(ValueError, match="state overlaps cache"):
        function(x(), memory[0], memory[0, 7:])
    function(memory[:, :4], memory[:, 4:])
    assert len(launches.launched) == 1


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16"), DType.FLOAT16])
def test_a_dtype_may_be_given_as_any_library_has_it(launches, dtype):
    def converted(x, dtype=None, *, out=None, stream=None):
        """x in another dtype."""

    call = Call(
        declaration=converted,
        inputs=("x",),
        outputs=("out",),
        types=lambda x, dtype: {"out": ArrayType(x.shape, dtype)},
        bind=lambda x, dtype, out: Binding(dtype, {}),
    )
    assert toy(call).function(x(), dtype).dtype == np.float16


test_a_call_that_contradicts_its_declaration_is_refused = refused(
    lambda **change: replace(CALL, **change),
    [
        ({"scalars": ("alfa",)}, "'alfa' is no parameter of shifted"),
        ({"in_place": (("out", "z"),)}, "'z' is no parameter"),
        ({"optional": ("x",)}, "expected a first input that is not optional"),
        ({"optional": ("out", "index", "total")}, "expected an output or an update that is not optional"),
        ({"inputs": ("x", "mask", "out")}, "'out' is an input and an output: expected an input in `updates`"),
        ({"updates": ("out",)}, "'out' is updated: expected an input"),
    ],
)


X = np.linspace(-4, 4, 64, dtype=np.float32).reshape(4, 16)

CALLS = {
    "gelu": ("gelu", {}),
    "silu": ("silu", {}),
    "relu": ("relu", {}),
    "sigmoid": ("sigmoid", {}),
    "tanh": ("tanh", {}),
    "exp": ("exp", {}),
    "swiglu": ("silu", {"packed": "halves"}),
    "geglu": ("gelu", {"packed": "halves"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_shorthand_is_the_call(name):
    function, options = CALLS[name]
    np.testing.assert_array_equal(getattr(dispatcher, name)(X), dispatcher.map(X, function, **options))


def test_arguments_go_where_they_belong():
    out, residual, scale = np.empty_like(X), 2 * X, np.float32([0.5])
    assert dispatcher.gelu(X, "tanh", out=out) is out
    np.testing.assert_array_equal(out, dispatcher.map(X, "gelu_tanh"))
    np.testing.assert_array_equal(dispatcher.swiglu(X, out), dispatcher.map(X, "silu", factors=out))
    np.testing.assert_array_equal(
        dispatcher.cast(X, np.int8, scale=scale, saturate=True), np.rint(X / 2).astype(np.int8)
    )
    assert dispatcher.residual_add(X, residual, out=residual) is residual
    np.testing.assert_array_equal(residual, 3 * X)


def test_every_one_is_listed_and_documented():
    for name, stated in shorthands():
        function = getattr(dispatcher, stated.__name__)
        call = operator(name).call
        assert call is not None
        assert stated.__name__ in dir(dispatcher)
        assert function.__module__ == "autotune.dispatcher"
        assert function.__doc__ == stated.__doc__
        parameters = inspect.signature(function).parameters
        assert all(f"{parameter}" in function.__doc__ for parameter in parameters if parameter != "stream")
        assert set(stated(*(name for name, one in parameters.items() if one.default is one.empty))) <= set(
            call.signature.parameters
        )


def test_a_name_that_nothing_has_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'gelo'"):
        dispatcher.gelo  # noqa: B018


def test_indices_are_looked_at_on_demand(monkeypatch):
    """What a tensor states of them, in calls and plans."""
    q, wrong = np.ones((5, 2, 16), np.float16), np.array([0, 6, 5], np.int32)
    monkeypatch.setenv("AUTOTUNE_CHECK", "1")
    dispatcher.attention_varlen(q, q, q, np.array([0, 3, 5], np.int32))
    for call in (dispatcher.attention_varlen, partial(dispatcher.plan, "attention_varlen")):
        with pytest.raises(ValueError, match=r"^offsets: element 1 is 6: expected 0 … 5$"):
            call(q, q, q, wrong)


ROWS = np.arange(10, dtype=np.float32).reshape(2, 5)
SHARES = np.full((1, 3, 4), 0.25, np.float32)


@pytest.mark.parametrize(
    ("call", "given", "found", "why"),
    [
        (
            lambda lengths: dispatcher.topk(ROWS, 2, lengths=lengths)[1],
            np.int32([9, -1]),
            [[4, 3], [-1, -1]],
            "lengths: element 0 is 9: expected 0 … 5",
        ),
        (
            lambda lengths: dispatcher.softmax(0 * ROWS, lengths=lengths),
            np.int32([9, 6]),
            [[np.float32(0.2)] * 5] * 2,
            "lengths: element 0 is 9: expected 0 … 5",
        ),
        (
            lambda counts: dispatcher.nms(np.zeros((2, 5, 4), np.float32), ROWS, counts=counts)[1],
            np.int32([9, -1]),
            [5, 0],
            f"counts: element 1 is -1: expected 0 … {2**31 - 1}",
        ),
        (
            lambda tokens: dispatcher.chain_speculative_sampling(SHARES[:, 1:], tokens, SHARES, 1)[1],
            np.array([[1, 77]]),
            [1],
            "draft_tokens: element 1 is 77: expected -1 … 3",
        ),
        (
            lambda tokens: dispatcher.chain_speculative_sampling(SHARES[:, 1:], tokens, SHARES, 1)[1],
            np.array([[-(2**63), 1]]),
            [0],
            f"draft_tokens: element 0 is {-(2**63)}: expected -1 … 3",
        ),
    ],
    ids=["topk", "softmax", "nms", "a token above", "a token below"],
)
def test_numbers_that_lead_nowhere_are_tolerated_unless_they_are_looked_at(monkeypatch, call, given, found, why):
    np.testing.assert_array_equal(call(given), found)
    monkeypatch.setenv("AUTOTUNE_CHECK", "1")
    with pytest.raises(ValueError, match=f"^{why}$"):
        call(given)


def test_numbers_that_stand_for_all_or_none_are_allowed(monkeypatch):
    """A decoder's count of more boxes than it had room for, and a draft of fewer tokens."""
    monkeypatch.setenv("AUTOTUNE_CHECK", "1")
    assert dispatcher.nms(np.zeros((2, 5, 4), np.float32), ROWS, counts=np.int32([9, 2]))[1].tolist() == [5, 2]
    assert dispatcher.chain_speculative_sampling(SHARES[:, 1:], np.array([[1, -1]]), SHARES, 1)[1].tolist() == [1]


def test_wrong_indices_are_not_the_kernels_fault():
    """Without a look at them, the emulator reports what the kernel accesses."""
    q = np.ones((13, 4, 32), np.float16)
    with pytest.raises(ValueError, match=r"^offsets: element 2 is 20: expected 0 … 13$"):
        dispatcher.attention_varlen(q, q, q, np.array([0, 3, 20], np.int32))


def test_a_kernel_is_at_fault_where_an_index_may_be_anything(monkeypatch):
    """A length behind the end of its row has a result."""

    def fail(*_):
        raise EmulatorError("race")

    monkeypatch.setattr(emulated, "run", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the model's schedule was skipped
        with pytest.raises(LaunchError, match="race"):
            dispatcher.topk(np.ones((2, 5), np.float32), 2, lengths=np.array([9, 5], np.int32))
