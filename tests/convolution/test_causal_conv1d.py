"""causal_conv1d and its update: that they go on from each other, what they refuse, and bugs that are found."""

import numpy as np
import pytest
from planted import caught
from refusals import illegal, refused

from autotune import dispatcher
from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.codegen.convolution.causal_conv1d_update.problem import CausalConv1dUpdateProblem
from autotune.emulator import verify
from autotune.search_spaces.convolution import causal_conv1d, causal_conv1d_update
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((2, 6, 11)).astype(np.float32)
WEIGHT, BIAS = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((6, 4), (6,)))
# Sequences that end within a vector, with gaps; channels of a second block.
STEPS = CausalConv1dProblem(5, 37, 2, initial=True, final=True, ldx=40, ldy=40, align_x=16, align_y=16)
SKEWED = CausalConv1dProblem(5, 255, 2, 3, bias=True, initial=True)  # whose last vector is in a second chunk
CHANNELS = CausalConv1dProblem(24, 13, 2, channels_last=True, initial=True, final=True, align_x=16)
NUMBERED = CausalConv1dProblem(8, 29, 2, channels_last=True, bias=True, numbered=True)
INDEXED = CausalConv1dUpdateProblem(17, 24, 30, 3, indexed=True)


def by_definition(x, weight):
    """Each step by its own sum, of steps ahead of the sequence as 0."""
    width, padded = weight.shape[1], np.pad(x, ((0, 0), (0, 0), (weight.shape[1] - 1, 0)))
    steps = [(padded[:, :, t : t + width] * weight).sum(axis=2) for t in range(x.shape[2])]
    return np.stack(steps, axis=2)


def test_it_is_the_definition():
    np.testing.assert_allclose(dispatcher.causal_conv1d(X, WEIGHT), by_definition(X, WEIGHT), atol=1e-5)
    by_step = np.ascontiguousarray(X.transpose(0, 2, 1))
    found = dispatcher.causal_conv1d(by_step, WEIGHT, channels_last=True)
    np.testing.assert_allclose(found.transpose(0, 2, 1), by_definition(X, WEIGHT), atol=1e-5)


def test_a_sequence_goes_on_from_its_states():
    whole = dispatcher.causal_conv1d(X, WEIGHT, BIAS, activation="silu")
    states, last = np.empty((2, 6, 3), np.float32), np.empty((2, 6, 3), np.float32)
    first = dispatcher.causal_conv1d(X[..., :2].copy(), WEIGHT, BIAS, activation="silu", final_states=states)
    second = dispatcher.causal_conv1d(X[..., 2:9].copy(), WEIGHT, BIAS, states, activation="silu", final_states=last)
    np.testing.assert_array_equal(last, X[..., 6:9])
    third = dispatcher.causal_conv1d_update(X[..., 9].copy(), last, WEIGHT, BIAS, activation="silu")
    slots = np.zeros((5, 6, 3), np.float32)
    slots[[3, 1]] = last
    indices = np.array([3, 1], np.int32)
    fourth = dispatcher.causal_conv1d_update(X[..., 10:].copy(), slots, WEIGHT, BIAS, indices, activation="silu")
    np.testing.assert_array_equal(slots[[3, 1]], X[..., 8:])
    assert not slots[[0, 2, 4]].any()
    found = np.concatenate([first, second, third[..., None], fourth], axis=2)
    np.testing.assert_allclose(found, whole, atol=1e-6)


@pytest.mark.parametrize("channels_last", [False, True])
def test_sequences_without_steps_keep_their_states(channels_last):
    problem = CausalConv1dProblem(6, 0, 2, channels_last=channels_last, initial=True, final=True)
    verify(problem, causal_conv1d.OPERATOR.program(problem, causal_conv1d.OPERATOR.default(problem, SPEC), SPEC))


test_other_arrays_are_refused = refused(
    dispatcher.causal_conv1d,
    [
        ({"x": X[0], "weight": WEIGHT}, "x has shape (6, 11): expected 3 axes"),
        ({"x": X, "weight": WEIGHT[0]}, "weight has shape (4,): expected (channels, width)"),
        ({"x": X, "weight": np.ones((6, 33), np.float32)}, "of 1 to 32 columns"),
        ({"x": X, "weight": WEIGHT[:5].copy()}, "weight has shape (5, 4)"),
        ({"x": X, "weight": WEIGHT, "activation": "tanh"}, "activation='tanh': expected one of"),
        ({"x": X.astype(np.int32), "weight": WEIGHT}, "TypeError: x"),
        ({"x": X, "weight": WEIGHT, "final_states": np.ones((2, 6, 4), np.float32)}, "final_states has shape"),
        (
            {"x": X, "weight": WEIGHT, "seq_idx": np.zeros((2, 11), np.int32)},
            "numbered=True: expected channels_last=True",
        ),
    ],
)
test_other_updates_are_refused = refused(
    dispatcher.causal_conv1d_update,
    [
        ({"x": X[0, :, :1, None], "conv_state": X[..., :3], "weight": WEIGHT[:, None]}, "weight has shape"),
        ({"x": X[:, :, 0].copy(), "conv_state": X[..., :4].copy(), "weight": WEIGHT}, "conv_state has shape (2, 6, 4)"),
        ({"x": X[0], "conv_state": X[..., :3].copy(), "weight": WEIGHT}, "slots=2: expected one for each of the 6"),
    ],
)
test_schedules_are_illegal = illegal(
    causal_conv1d.OPERATOR,
    {
        CHANNELS: {"vector=16": "vector 16 over the 8 elements"},
        CausalConv1dProblem(6, 9, channels_last=True): {"vector=4": "vector 4 over the 2 elements"},
    },
)


def test_slots_are_checked_on_demand(monkeypatch):
    """Requests without a slot have any negative number."""
    monkeypatch.setenv("AUTOTUNE_CHECK", "1")

    def updated(*slots):
        state = np.zeros((4, 6, 3), np.float32)
        return dispatcher.causal_conv1d_update(X[0, :, :2].T.copy(), state, WEIGHT, None, np.array(slots, np.int32))

    assert not updated(-1, -1).any()
    assert updated(3, 0).any()
    for slots, why in (
        ((0, 4), "slot_indices: request 1 has slot 4: expected 3 or less"),
        ((2, 2), "slot_indices: 2 requests have slot 2: expected one for each"),
    ):
        with pytest.raises(ValueError, match=f"^{why}$"):
            updated(*slots)


def _program(problem, words):
    operator = causal_conv1d.OPERATOR if isinstance(problem, CausalConv1dProblem) else causal_conv1d_update.OPERATOR
    schedule = operator.kernels[0].schedule_type.parse(words.split())
    return operator.program(problem, schedule, SPEC)


_BY_CHANNEL, _BY_STEP = "threads=32 TPR=8 V=4 L=2 R=2", "threads=32 TPR=8 V=8 L=2 R=2"
test_bugs_are_found = caught(
    _program,
    [
        (STEPS, _BY_STEP, "if (first + i < problem.length) row.y", "row.y"),
        (SKEWED, _BY_STEP, "first + i >= 1 - width && ", ""),
        (SKEWED, _BY_STEP, "first + count <= row.readable", "true"),
        (SKEWED, f"{_BY_STEP} prefetch=1", "seen[i] = next[i];", "seen[i] = next[0];"),
        (SKEWED, _BY_STEP, "if (first + i < 0) continue;", ""),
        (SKEWED, _BY_STEP, "problem.length + vector - 2", "problem.length - 1"),
        (SKEWED, _BY_STEP, "begin -= step_of_y", "begin += step_of_y"),
        (STEPS, _BY_STEP, "problem.length - width + 1 + i", "problem.length - width + i"),
        (CHANNELS, _BY_CHANNEL, "seen[i][l] = seen[loads + i][l]", "seen[i][l] = seen[loads + i - 1][l]"),
        (CHANNELS, f"{_BY_CHANNEL} prefetch=1", "end - begin - loads", "end - begin"),
        (CHANNELS, _BY_CHANNEL, "first + i - width + 1).elements", "first + i - width + 2).elements"),
        (NUMBERED, _BY_CHANNEL, "numbers[i + j] != numbers[i + width - 1]", "false"),
        (NUMBERED, _BY_CHANNEL, "numbers[i] = numbers[loads + i];", ""),
        (NUMBERED, _BY_CHANNEL, "numbers[i + width - 1] < 0", "false"),
        (INDEXED, "", "slot < 0 || ", ""),
        (INDEXED, "", "state[i] = seen[i];\n}", "state[i] = seen[i + 1];\n}"),
    ],
)
