"""The second operator of the proof: an array that is updated, axes in two orders, sizes that depend on each other."""

import re
from dataclasses import replace

import numpy as np
import pytest
from append import OPERATOR, AppendProblem, AppendSchedule

from autotune import dispatcher
from autotune.bench.dispatch.example_call import example_call, problem_of_sizes
from autotune.contract.wide_layouts import check_wide, wide_layouts
from autotune.emulator import EmulatorError, verify
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
BSHD = AppendProblem(2, 3, 4, 8, 9, stride_x_b=96)
BHSD = replace(BSHD, stride_x_h=3 * 8, stride_x_s=8)
APART = AppendProblem(2, 3, 4, 8, 9, stride_x_s=48, align_x=4, stride_cache_h=10)  # one batch for all; rows apart


def test_layouts_follow_from_axes():
    assert [BSHD.key, BHSD.key, APART.key] == [
        "b2-s3-h4-d8-slots9-sxb96",
        "b2-s3-h4-d8-slots9-sxb96-sxs8-sxh24",
        "b2-s3-h4-d8-slots9-sxs48-alignx4-scacheh10",
    ]
    assert [one.tensors[0].strides for one in (BSHD, BHSD)] == [(96, 32, 8, 1), (96, 8, 24, 1)]
    assert APART.tensors[2].strides == (40, 10, 1)
    assert (APART.bytes_of("x"), BSHD.bytes_of("x")) == (2 * 3 * 4 * 8, 2 * 6 * 4 * 8)
    assert APART.layouts["x"].vector_width == 2
    for wrong, message in (
        ({"stride_cache_p": 7}, "cache is written, and of its shape"),
        ({"align_cache": 3}, "align_cache=3: expected one of 2, 4, 8, 16 bytes"),
        ({"stride_x_h": -1}, "stride_x_h=-1: expected 0 or more"),
    ):
        with pytest.raises(ValueError, match=message):
            assert replace(BSHD, **wrong).tensors


def test_sizes_are_made_to_fit():
    with pytest.raises(ValueError, match="slots=5: expected 6 or more"):
        replace(BSHD, slots=5)
    fitted = problem_of_sizes(AppendProblem, lambda *_: 33)
    assert (fitted.to_dict()["batch"], fitted.to_dict()["sequence"]) == (33, 1)
    assert example_call(OPERATOR, fitted).call is OPERATOR.call


def test_what_it_does_not_state_follows_from_what_it_states():
    """Its space, what is tried first, problems that prove a schedule, and what launches do."""
    narrow = replace(BSHD, align_x=4)
    assert [one.values for one in OPERATOR.space(narrow, H200).parameters] == [(1, 2), (64, 128, 256)]
    seeds = OPERATOR.seeds(narrow, H200)
    assert seeds[0] == OPERATOR.default(narrow, H200) == AppendSchedule()
    assert {*seeds} == {AppendSchedule(), AppendSchedule(2), AppendSchedule(1, 64), AppendSchedule(1, 256)}
    whole, ragged = OPERATOR.checks(replace(BSHD, stride_x_h=10), AppendSchedule(2))
    assert [one.layouts["x"].vector_width for one, _ in (whole, ragged)] == [8, 2]
    assert [one.tensors[0].dense for one, _ in (whole, ragged)] == [True, False]
    for check, schedule in (whole, ragged):
        verify(check, OPERATOR.program(check, schedule, H200), seeds=(0,))
    (one,) = OPERATOR.workload(BSHD, AppendSchedule(), H200)
    assert one.blocks == OPERATOR.emit(BSHD, AppendSchedule()).launch.blocks


@pytest.mark.parametrize("problem", [BSHD, BHSD, APART], ids=lambda problem: problem.key)
@pytest.mark.parametrize("schedule", [AppendSchedule(), AppendSchedule(2, 64)], ids=str)
def test_it_is_right(problem, schedule):
    verify(problem, OPERATOR.program(problem, schedule, H200))


def test_it_is_right_far_apart():
    layouts = list(wide_layouts(BSHD))
    assert {name for one in layouts for name, stride in one.to_dict().items() if stride > 2**31} == {
        name for name in BSHD.to_dict() if name.startswith("stride_")
    }
    for one in layouts:
        check_wide(BSHD, one, OPERATOR.program(one, AppendSchedule(), H200))


def edited(old, new):
    def edit(program):
        assert program.source.count(old) == 1
        return replace(program, source=program.source.replace(old, new))

    return edit


@pytest.mark.parametrize(
    ("plant", "error"),
    [
        (edited("= arguments.slots[token];", "= token;"), r"wrong: .* \(in cache\)"),
        (edited("  store_global<false>(target,", "  target[0] = {};\n  store_global<false>(target + 8,"), "cache"),
        (edited("h * arguments.stride_x_h", "h * arguments.head_dim"), r"wrong: .* \(in cache\)"),
    ],
)
def test_the_bug_is_caught(plant, error):
    with pytest.raises(EmulatorError, match=error):
        verify(BHSD, plant(OPERATOR.program(BHSD, AppendSchedule(), H200)))


@pytest.mark.parametrize("order", ["bshd", "bhsd"])
def test_a_call_follows_strides_and_changes_stated_slots_alone(order):
    x, slots, cache = _arrays()
    expected = cache.copy()
    expected[slots] = x
    given = x if order == "bshd" else np.ascontiguousarray(x.transpose(0, 2, 1, 3))
    assert dispatcher.append(given, slots, cache, order=order) is None
    np.testing.assert_array_equal(cache.view(np.int16), expected.view(np.int16))
    step = dispatcher.plan("append", given, slots, cache, order=order)
    cache[...] = 0
    assert step() is None
    np.testing.assert_array_equal(cache[slots].view(np.int16), x.view(np.int16))


def test_layouts_that_no_kernel_serves_are_refused():
    x, slots, cache = _arrays()
    for wrong in (x[..., ::-1], x.repeat(2, -1)[..., ::2], np.broadcast_to(x[:, :1], x.shape)):
        with pytest.raises(ValueError, match=re.escape("expected contiguous elements along axis 3")):
            dispatcher.append(wrong, slots, cache)
    dispatcher.append(np.broadcast_to(x[:1], x.shape), slots, cache)
    np.testing.assert_array_equal(cache[slots[0]].view(np.int16), cache[slots[1]].view(np.int16))


def test_pytorch_is_told():
    torch = pytest.importorskip("torch")
    from autotune.torch.operators import _Operator
    from autotune.torch.schema import schema

    assert schema(OPERATOR.call) == '(Tensor x, Tensor slots, Tensor(a0!) cache, str order="bshd") -> ()'
    append = _Operator(OPERATOR.call, None).function()
    x, slots, cache = (torch.from_numpy(one.view(np.int16) if one.dtype.itemsize == 2 else one) for one in _arrays())
    x, cache = x.view(torch.bfloat16), cache.view(torch.bfloat16)
    expected = cache.clone()
    expected[slots.long()] = x
    torch.library.opcheck(torch.ops.autotune.append.default, (x, slots, cache.clone()), {})

    @torch.compile(fullgraph=True, backend="aot_eager")
    def doubled(x, slots, cache):
        append(x, slots, cache)
        return 2 * cache

    torch.testing.assert_close(doubled(x, slots, cache), 2 * expected)
    torch.testing.assert_close(cache, expected)


def _arrays():
    inputs = BSHD.inputs(0)
    return inputs["x"].reshape(2, 3, 4, 8), inputs["slots"].reshape(2, 3), inputs["cache"].reshape(9, 4, 8)
