"""What decoding does with lengths and pages that lead anywhere, whose bits depend on what, and what it refuses."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher
from autotune.codegen.attention.attention_decode.fma.schedule import FmaSchedule
from autotune.codegen.attention.attention_decode.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.cache import Cache, Scales
from autotune.codegen.model.dtype import DType
from autotune.dispatcher.choice.choose import choices
from autotune.emulator import run
from autotune.search_spaces.attention.attention_decode import OPERATOR
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
SCHEDULES = [
    FmaSchedule(64, 3, 8, 2, 8, 2),
    MmaSyncSchedule(32, 16, 8, 2),
    MmaSyncSchedule(32, 16, 8, 2, 1, 2),
    MmaSyncSchedule(64, 16, 8, 4, 1, 2, cluster=True),
]  # tiles of 16 keys, or of 32
# The same in a fixed grid, whose blocks have a few requests or a part of one.
SHARED = [
    FmaSchedule(64, 3, 8, 2, 8, grid_blocks=5),
    MmaSyncSchedule(32, 16, 8, 1, 2, grid_blocks=40),
    MmaSyncSchedule(32, 16, 8, 1, 1, 2, grid_blocks=7),
    MmaSyncSchedule(32, 16, 8, grid_blocks=2),  # whose shares are so long that the starts of heads count
]
NOWHERE = [-(2**31), -1, 2**31 - 1]
ROOM, PAGE, DIM = 80, 5, 16
# None, one, tiles of 16 keys and parts of two tiles, and what is beside their edges; all that there is room for.
LENGTHS = [0, 1, 15, 16, 17, 31, 32, 33, 64, 65, ROOM]


def _normal(random, *shape):
    return random.standard_normal(shape).astype(np.float16)


def _arrays(lengths, queries=2):
    """Queries of six heads, and caches of two, pages in any order; what no request has is NaN, or leads nowhere."""
    random = np.random.default_rng(len(lengths))
    batch, columns = len(lengths), ROOM // PAGE
    table = random.permutation(batch * columns).reshape(batch, columns).astype(np.int32)
    caches = [np.full((batch * columns, PAGE, 2, DIM), np.nan, np.float16) for _ in range(2)]
    in_order = [_normal(random, batch, ROOM, 2, DIM) for _ in range(2)]
    for request, length in enumerate(lengths):
        keys = np.arange(length)
        for cache, rows in zip(caches, in_order, strict=True):
            cache[table[request, keys // PAGE], keys % PAGE] = rows[request, :length]
            rows[request, length:] = np.nan
        table[request, -(-length // PAGE) :] = NOWHERE[request % 3]
    return {
        "q": _normal(random, batch, queries, 6, DIM),
        "k": caches[0],
        "v": caches[1],
        "lengths": np.array(lengths, np.int32),
        "table": table,
    }, in_order


def _decoded(schedule, arrays, **fields):
    """o and lse by a schedule."""
    batch, queries, heads, _ = arrays["q"].shape
    paged = "table" in arrays
    fields |= {"page": PAGE, "pages": len(arrays["k"])} if paged else {}
    problem = AttentionDecodeProblem(
        queries, ROOM, heads, batch, 2, head_dim=DIM, dtype=DType.FLOAT16, lse=True, **fields
    )
    buffers = {name: array.reshape(-1).copy() for name, array in arrays.items()}
    buffers |= {"o": np.zeros(arrays["q"].size, np.float16), "lse": np.zeros(batch * queries * heads, np.float32)}
    run(OPERATOR.program(problem, schedule, SPEC), problem.tensors, buffers, {"scale": 0.0, "softcap": 0.0})
    return buffers["o"].reshape(batch, -1), buffers["lse"].reshape(batch, -1)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_a_request_is_the_same_alone_in_a_batch_and_without_pages(schedule):
    """Bit for bit; each is right at all lengths, and nothing behind one is read."""
    arrays, in_order = _arrays(LENGTHS)
    o, lse = _decoded(schedule, arrays, causal=True)
    dense = {"q": arrays["q"], "lengths": arrays["lengths"]} | dict(zip("kv", in_order, strict=True))
    for other in _decoded(schedule, dense, causal=True), _together(schedule, arrays):
        np.testing.assert_array_equal(other[0].view(np.int16), o.view(np.int16))
        np.testing.assert_array_equal(other[1], lse)
    _assert_right(arrays, in_order, o)
    assert (lse[0] == -np.inf).all()


@pytest.mark.parametrize("schedule", SHARED, ids=str)
@pytest.mark.parametrize(
    "lengths", [LENGTHS, [ROOM] * 3, [ROOM, 1, 2], [0] * 40 + [ROOM] + [3] * 30 + [0], [0]], ids=len
)
def test_blocks_of_a_fixed_grid_share_the_keys_of_all_requests(schedule, lengths):
    """Many requests or few, long ones and short ones, and those without keys."""
    arrays, in_order = _arrays(lengths)
    o, lse = _decoded(schedule, arrays, causal=True)
    _assert_right(arrays, in_order, o)
    again, _ = _decoded(schedule, arrays, causal=True)
    np.testing.assert_array_equal(again.view(np.int16), o.view(np.int16))
    assert ((lse == -np.inf).all(axis=1) == (arrays["lengths"] == 0)).all()


@pytest.mark.parametrize("schedule", [SCHEDULES[0], SHARED[2]], ids=str)
def test_equal_scores_of_many_millions_have_equal_weights(schedule):
    """In whichever part they are: products with log2(e) are rounded by up to 8."""
    arrays, in_order = _arrays(LENGTHS)
    for array in (arrays["q"], arrays["k"], in_order[0]):
        array[...] = 2.0**13 * np.clip(np.round(array), -1, 1)
    _assert_right(arrays, in_order, _decoded(schedule, arrays, causal=True)[0])


def _assert_right(arrays, in_order, o):
    for request, length in enumerate(arrays["lengths"]):
        k, v = (rows[request, :length] for rows in in_order)
        np.testing.assert_allclose(o[request], _expected(arrays["q"][request], k, v).reshape(-1), atol=2e-3)


def _expected(q, k, v):
    """Of queries of six heads, of which the last one sees all keys, the one before it all but one."""
    scores = np.einsum("qhgd,khd->hgqk", q.reshape(-1, 2, 3, DIM), k, dtype=np.float64) / DIM**0.5
    scores[..., np.tri(len(q), len(k), len(k) - len(q)) == 0] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, initial=-1e9, keepdims=True))
    sums = weights.sum(axis=-1, keepdims=True)
    return np.einsum("hgqk,khd->qhgd", weights / np.where(sums == 0, 1, sums), v)


def _together(schedule, arrays):
    """Three requests at a time, of one cache."""
    of_three = [
        _decoded(
            schedule,
            {name: array if name in "kv" else array[first : first + 3] for name, array in arrays.items()},
            causal=True,
        )
        for first in range(0, len(LENGTHS), 3)
    ]
    return [np.concatenate(parts) for parts in zip(*of_three, strict=True)]


def test_calls_are_batch_invariant_on_demand():
    """Their problems differ in the number of requests, and in how many keys there is room for."""
    arrays, _ = _arrays([ROOM, 7, 33])
    named = {"q": "q", "lengths": "lengths", "table": "table"}

    def decoded(requests, columns):
        some = {name: arrays[own][:requests] for name, own in named.items()}
        some["table"] = np.ascontiguousarray(some["table"][:, :columns])
        some["lengths"] = np.minimum(some["lengths"], columns * PAGE)
        return dispatcher.attention_decode(
            k_cache=arrays["k"], v_cache=arrays["v"], **some, causal=True, batch_invariant=True
        )

    arrays["lengths"][0] = 60
    np.testing.assert_array_equal(decoded(1, 12)[0].view(np.int16), decoded(3, ROOM // PAGE)[0].view(np.int16))
    many = AttentionDecodeProblem(1, 4096, 32, 64, 8, head_dim=128, batch_invariant=True)
    few = replace(many, batch=1, keys=512, stride_k_p=0, stride_v_p=0, stride_q_b=0, stride_o_b=0)
    served = [next(choices(OPERATOR, one, SPEC, [])).schedule for one in (many, few)]
    assert served[0] == served[1]
    assert "others" in OPERATOR.violations(many, MmaSyncSchedule(vector_width=8, grid_blocks=132), SPEC)[0]
    assert {one.grid_blocks for one in OPERATOR.seeds(many, SPEC)} == {0}
    ordinary = [next(choices(OPERATOR, replace(one, batch_invariant=False), SPEC, [])).schedule for one in (many, few)]
    assert ordinary[0] != ordinary[1]


def test_requests_share_pages():
    arrays, _ = _arrays([ROOM, 0])
    arrays["table"][1], arrays["lengths"][1], arrays["q"][1] = arrays["table"][0], ROOM, arrays["q"][0]
    o, _ = _decoded(SCHEDULES[0], arrays)
    np.testing.assert_array_equal(o[0], o[1])


@pytest.mark.parametrize("schedule", SCHEDULES + SHARED[2:], ids=str)
@pytest.mark.parametrize("wrong", NOWHERE)
def test_nothing_outside_of_the_cache_is_read(wrong, schedule):
    """The emulator would refuse it. The nearest length is taken, and the last page."""
    arrays, _ = _arrays([ROOM, ROOM, 33])
    arrays["lengths"][1], arrays["table"][2, 3] = np.clip(wrong, 0, ROOM), len(arrays["k"]) - 1
    expected, _ = _decoded(schedule, arrays)
    arrays["lengths"][1], arrays["table"][2, 3] = wrong, wrong
    found, _ = _decoded(schedule, arrays)
    np.testing.assert_array_equal(found, expected)


def test_lengths_and_pages_are_checked_on_demand(monkeypatch):
    """In each call, also one that has been made before; entries behind a length may be anything."""
    arrays, _ = _arrays([33, 7])
    assert _called() is not None
    monkeypatch.setenv("AUTOTUNE_CHECK", "1")
    for _ in range(2):
        _called()
        for name, place, wrong, message in (
            ("lengths", 1, 81, "lengths: request 1 has 81 keys: expected 0 … 80"),
            ("lengths", 0, -1, "lengths: request 0 has -1 keys: expected 0 … 80"),
            ("table", (1, 1), 32, "table: request 1 has page 32 in column 1: expected 0 … 31"),
        ):
            array = arrays[name].copy()
            array[place] = wrong
            with pytest.raises(ValueError, match=message):
                _called(**{name: array})
    monkeypatch.setenv("AUTOTUNE_CHECK", "0")
    _called(table=np.where(arrays["table"] < 0, 99, arrays["table"]))


@pytest.mark.parametrize("order", ["nhd", "hnd"])
@pytest.mark.parametrize("paged", [False, True])
def test_calls(order, paged):
    arrays, in_order = _arrays([33, 7])
    caches = (arrays["k"], arrays["v"]) if paged else in_order
    if order == "hnd":
        caches = [np.ascontiguousarray(cache.swapaxes(1, 2)) for cache in caches]
    lse = np.zeros((2, 6, 2), np.float32)
    table = {"table": arrays["table"]} if paged else {}
    o = dispatcher.attention_decode(arrays["q"], *caches, arrays["lengths"], **table, order=order, lse=lse)
    for request, length in enumerate([33, 7]):
        k, v = (rows[request, None, :length] for rows in in_order)
        expected_lse = np.zeros((1, 6, 2), np.float32)
        expected = dispatcher.attention(arrays["q"][request, None], k, v, lse=expected_lse)
        np.testing.assert_allclose(o[request], expected[0], atol=2e-3)
        np.testing.assert_allclose(lse[request], expected_lse[0], atol=1e-3)


@pytest.mark.parametrize("paged", [False, True])
def test_calls_without_lengths(paged):
    arrays, in_order = _arrays([ROOM, ROOM])
    table = {"table": arrays["table"]} if paged else {}
    o = dispatcher.attention_decode(arrays["q"], *((arrays["k"], arrays["v"]) if paged else in_order), **table)
    np.testing.assert_allclose(o, dispatcher.attention(arrays["q"], *in_order), atol=2e-3)


def test_latent_keys_are_values_too():
    """A call of MLA: heads of more elements than `attention` takes, and caches that overlap."""
    random = np.random.default_rng(0)
    q, latent = (random.standard_normal(shape).astype(np.float16) for shape in ((1, 1, 2, 576), (1, 7, 1, 576)))
    o = dispatcher.attention_decode(q, latent, latent[..., :512], np.array([7], np.int32))
    once = dispatcher.attention_decode(q, latent, None, np.array([7], np.int32), value_dim=512)
    scores = np.exp(q[0, 0].astype(float) @ latent[0, :, 0].T.astype(float) / 24)
    expected = scores / scores.sum(-1, keepdims=True) @ latent[0, :, 0, :512]
    for found in (o, once):
        np.testing.assert_allclose(found[0, 0], expected, atol=2e-3)


def _called(**changed):
    arrays, _ = _arrays([33, 7])
    named = {"q": "q", "k_cache": "k", "v_cache": "v", "lengths": "lengths", "table": "table"}
    return dispatcher.attention_decode(**{name: arrays[own] for name, own in named.items()} | changed)


def _half(*shape):
    return np.zeros(shape, np.float16)


test_calls_that_are_refused = refused(
    _called,
    [
        ({"q": _half(2, 0, 6, DIM)}, "q has shape (2, 0, 6, 16): expected 1 to 16384 queries of each request"),
        ({"q": _half(2, 2, 5, DIM)}, "k_cache has shape (32, 5, 2, 16): expected heads that divide the 5 of q"),
        ({"q": np.zeros((2, 2, 6, DIM), np.float32)}, "TypeError: q has dtype float32: attention_decode takes"),
        ({"v_cache": _half(32, PAGE, 1, DIM)}, "expected that of k_cache, (32, 5, 2, 16), but for the last axis"),
        ({"table": None}, "k_cache has shape (32, 5, 2, 16): expected a row for each of 2 requests, or a table"),
        ({"lengths": np.zeros(2, np.int64)}, "lengths has dtype int64 and shape (2,): expected int32 of shape (2,)"),
        ({"table": np.zeros((3, 4), np.int32)}, "expected int32 of shape (2, 4)"),
        ({"order": "bshd"}, "order='bshd': expected nhd or hnd"),
        (
            {"k_cache": _half(32, PAGE, 2, 8)},
            "k_cache has shape (32, 5, 2, 8): expected heads of 16 elements, as those of q",
        ),
        ({"value_dim": 8}, "value_dim=8: expected elements of latent keys, without v_cache, or 0"),
        ({"v_cache": None}, "value_dim=0: expected elements of latent keys, without v_cache, or 0"),
        (
            {"v_cache": None, "value_dim": 17},
            "value_dim=17: k_cache has dtype float16 and shape (32, 5, 2, 16): expected latent keys of float16, of",
        ),
    ],
)


test_problems_that_cannot_be = refused(
    lambda **fields: AttentionDecodeProblem(**{"queries": 1, "keys": 64, "heads": 2, "batch": 2} | fields),
    [
        ({"queries": 16385}, "queries=16385: expected 0 … 16384"),
        ({"pages": 3}, "pages=3: expected 0 of a cache without pages"),
        ({"latent": True, "value_dim": 80}, "latent keys of 64 elements in a plain cache: expected numbers, of which"),
    ],
)


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("size", [2.0**-40, 1.0, 2.0**40])
@pytest.mark.parametrize("growth", [0.8, 1.25])
def test_scales_and_queries_of_any_size(dtype, size, growth):
    """Codes are multiplied as float16, whatever the numbers are that bfloat16 and float32 hold."""
    random = np.random.default_rng(0)
    keys, dim = 160, 32
    q = random.standard_normal((1, 1, 4, dim)) * np.array([size, 1e-3 * size, 3 * size, 0])[:, None]
    q = q.astype(ml_dtypes.bfloat16)
    k, v = (random.integers(-100, 100, (1, keys, 1, dim)).astype(dtype) for _ in range(2))
    k_scale = np.full((1, keys, 1), 2.0**-9 / size, np.float32)
    v_scale = (size * growth ** np.arange(keys)).astype(np.float32).reshape(1, keys, 1)
    problem = AttentionDecodeProblem(
        1, keys, 4, 1, 1, head_dim=dim, cache=Cache.of(DType(np.dtype(dtype).name)), scales=Scales.TOKEN
    )
    o = np.zeros(q.shape, ml_dtypes.bfloat16)
    arrays = {"q": q, "k": k, "v": v, "kscale": k_scale, "vscale": v_scale, "lengths": np.array([keys], np.int32)}
    buffers = {name: array.reshape(-1) for name, array in (arrays | {"o": o}).items()}
    program = OPERATOR.program(problem, MmaSyncSchedule(64, 16, 8, 2, 1, 2), SPEC)
    run(program, problem.tensors, buffers, {"scale": 0.0, "softcap": 0.0})
    scores = q[0, 0].astype(float) @ (k.astype(float) * k_scale[..., None])[0, :, 0].T / np.sqrt(dim)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    values = (v.astype(float) * v_scale[..., None])[0, :, 0]
    np.testing.assert_array_less(np.abs(o[0, 0] - weights @ values), 0.02 * (weights @ np.abs(values)))
