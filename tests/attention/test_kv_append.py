"""What appends to caches do with slots that are not there, with caches of other orders, and what they refuse."""

import ml_dtypes
import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher


def _arrays(order="nhd", *, slots=(7, 0, 3, 10), dtype=np.int32):
    """Four tokens of two heads, and caches of three pages of four slots."""
    random = np.random.default_rng(0)
    k, v = (random.standard_normal((4, 2, dim)).astype(np.float16) for dim in (8, 4))
    shape = {"nhd": (3, 4, 2), "hnd": (3, 2, 4)}[order]
    caches = [random.standard_normal((*shape, dim)).astype(np.float16) for dim in (8, 4)]
    return k, v, *caches, np.array(slots, dtype)


@pytest.mark.parametrize("order", ["nhd", "hnd"])
def test_tokens_go_to_their_slots(order):
    k, v, k_cache, v_cache, slots = _arrays(order, dtype=np.int64)
    expected = [k_cache.copy(), v_cache.copy()]
    for cache, new in zip(expected, (k, v), strict=True):
        places = cache if order == "nhd" else cache.swapaxes(1, 2)
        places[slots // 4, slots % 4] = new
    assert dispatcher.kv_append(k, v, k_cache, v_cache, slots, order=order) is None
    np.testing.assert_array_equal(k_cache, expected[0])
    np.testing.assert_array_equal(v_cache, expected[1])


@pytest.mark.parametrize("outside", [-1, 12, -(2**31), 2**31 - 1])
def test_a_token_without_a_slot_goes_nowhere(outside):
    k, v, k_cache, v_cache, slots = _arrays(slots=(7, outside, 3, 10))
    before = k_cache.copy()
    dispatcher.kv_append(k, v, k_cache, v_cache, slots)
    changed = [
        place
        for place in range(12)
        if not np.array_equal(k_cache.reshape(12, -1)[place], before.reshape(12, -1)[place])
    ]
    assert changed == [3, 7, 10]


@pytest.mark.parametrize("paged", [False, True])
def test_tokens_go_behind_the_keys_of_their_requests(paged):
    """A few have no room, no page, or a length that is none."""
    random = np.random.default_rng(0)
    requests, new, page, columns = 5, 3, 4, 3
    k, v = (random.standard_normal((requests * new, 2, 8)).astype(np.float16) for _ in range(2))
    shape = (requests * columns, page) if paged else (requests, page * columns)
    caches = [random.standard_normal((*shape, 2, 8)).astype(np.float16) for _ in range(2)]
    expected = [one.copy() for one in caches]
    lengths = np.array([3, 10, -1, 0, 2**31 - 1], np.int32)
    table = random.permutation(requests * columns).reshape(requests, columns).astype(np.int32)
    table[3, 0] = -1 if paged else 0
    for cache, rows in zip(expected, (k, v), strict=True):
        for request, first in ((0, 3), (1, 10), (3, 0)):
            for place in range(first, min(first + new, page * columns)):
                token = request * new + place - first
                if not paged:
                    cache[request, place] = rows[token]
                elif table[request, place // page] >= 0:
                    cache[table[request, place // page], place % page] = rows[token]
    dispatcher.kv_append(k, v, *caches, lengths=lengths, table=table if paged else None)
    for cache, own in zip(caches, expected, strict=True):
        np.testing.assert_array_equal(cache, own)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("by_slots", [False, True])
def test_keys_and_queries_are_rotated_as_by_rope(by_slots, interleaved):
    """The places of tokens are known to the device alone, or are given; q is a slice of a packed array."""
    random = np.random.default_rng(0)
    packed = random.standard_normal((6, 5, 16)).astype(np.float16)
    q, k, v = packed[:, :3], packed[:, 3:4], packed[:, 4:]
    table = random.standard_normal((20, 12)).astype(np.float32)
    places = np.array([4, 5, 6, 0, 1, 2], np.int32)
    rotated_q, rotated_k = dispatcher.rope(q, k, places, table, interleaved=interleaved, rotary_dim=12)
    caches = [np.zeros((2, 20, 1, 16), np.float16) for _ in range(2)]
    expected = [one.copy() for one in caches]
    for cache, rows in zip(expected, (rotated_k, v), strict=True):
        cache[[0, 0, 0, 1, 1, 1], places] = rows
    where = {"slots": places + np.array([0, 0, 0, 20, 20, 20], np.int32), "positions": places}
    if not by_slots:
        where = {"lengths": np.array([4, 0], np.int32)}
    dispatcher.kv_append(k, v, *caches, **where, cos_sin_cache=table, q=q, interleaved=interleaved)
    np.testing.assert_allclose(q, rotated_q, atol=2e-3)
    np.testing.assert_allclose(caches[0], expected[0], atol=2e-3)
    np.testing.assert_array_equal(caches[1], expected[1])


def test_tokens_may_be_more_than_slots():
    """Those that pad a batch have none."""
    random = np.random.default_rng(0)
    k, v = (random.standard_normal((9, 1, 4)).astype(np.float16) for _ in range(2))
    caches = [np.zeros((1, 2, 1, 4), np.float16) for _ in range(2)]
    dispatcher.kv_append(k, v, *caches, np.array([-1, 1, -1, -1, -1, -1, -1, 0, -1], np.int32))
    np.testing.assert_array_equal(caches[0][0], k[[7, 1]])
    np.testing.assert_array_equal(caches[1][0], v[[7, 1]])


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.float8_e4m3fn])
def test_an_infinite_number_becomes_the_largest_code(dtype):
    k = np.array([np.inf, -(2.0**15), 1.0, -np.inf], np.float16).reshape(1, 1, 4)
    caches = [np.zeros((1, 1, 1, 4), dtype) for _ in range(2)]
    scales = [np.zeros((1, 1, 1), np.float32) for _ in range(2)]
    slots = np.zeros(1, np.int32)
    dispatcher.kv_append(k, k, *caches, slots, k_scale_cache=scales[0], v_scale_cache=scales[1])
    found = caches[0].reshape(-1).astype(float) * scales[0].reshape(-1)
    np.testing.assert_allclose(found, [65504, -(2.0**15), 0, -65504], rtol=0.04, atol=2)


def test_64_bits_of_a_slot_count():
    k, v, k_cache, v_cache, slots = _arrays(slots=(2**32 + 7, -(2**32), 3, 10), dtype=np.int64)
    before = k_cache.copy()
    dispatcher.kv_append(k, v, k_cache, v_cache, slots)
    np.testing.assert_array_equal(k_cache[1, 3], before[1, 3])
    np.testing.assert_array_equal(k_cache[0, 0], before[0, 0])


def test_slots_are_checked_on_demand(monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CHECK", "1")
    _appended(slots=np.array([-1, -1, 3, 11], np.int32))
    with pytest.raises(ValueError, match="lengths: request 1 has 3 keys: expected 0 … 2"):
        _appended(slots=None, lengths=np.array([0, 3], np.int32))
    table = {"cos_sin_cache": np.zeros((9, 4), np.float32), "positions": np.array([0, 8, 9, 1], np.int32)}
    with pytest.raises(ValueError, match="positions: token 2 has position 9: expected 0 … 8"):
        _appended(**table)
    for slots, message in (
        ([0, 1, 12, 3], "slots: token 2 has slot 12: expected 11 or less"),
        ([5, 1, 5, 3], "slots: 2 tokens have slot 5: expected a slot of its own for each"),
    ):
        with pytest.raises(ValueError, match=message):
            _appended(slots=np.array(slots, np.int32))


def _appended(**changed):
    names = ("k", "v", "k_cache", "v_cache", "slots")
    dispatcher.kv_append(**dict(zip(names, _arrays(), strict=True)) | changed)


def _of_codes(**changed):
    caches = (np.zeros((3, 4, 2, dim), np.int8) for dim in (8, 4))
    return dict(zip(("k_cache", "v_cache"), caches, strict=True)) | changed


@pytest.mark.parametrize("order", ["nhd", "hnd"])
@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.float8_e4m3fn])
def test_what_is_appended_as_codes_is_read_again(order, dtype):
    """Each head of each token has a scale; others, of which there is none, are not touched."""
    random = np.random.default_rng(0)
    k, v = (
        random.standard_normal((6, 2, 16)).astype(np.float16) * scale for scale in (np.float16(20), np.float16(0.01))
    )
    k[0], v[1] = 0, 0
    pages = {"nhd": (4, 3, 2), "hnd": (4, 2, 3)}[order]
    caches = [np.zeros((*pages, 16), dtype) for _ in range(2)]
    scales = [np.full(pages, np.nan, np.float32) for _ in range(2)]
    dispatcher.kv_append(
        *(k, v, *caches, np.array([9, 10, 11, 0, 1, -1], np.int32)),
        k_scale_cache=scales[0],
        v_scale_cache=scales[1],
        order=order,
    )
    assert np.isfinite(scales[0]).sum() == 5 * 2
    for cache, scale, numbers in zip(caches, scales, (k, v), strict=True):
        places = [one if order == "nhd" else one.swapaxes(1, 2) for one in (cache, scale)]
        codes, own = (one.reshape(12, 2, -1)[[9, 10, 11, 0, 1]].astype(np.float32) for one in places)
        np.testing.assert_allclose(codes * own, numbers[:5], atol=0.04 * float(np.abs(numbers).max()))
    q = random.standard_normal((1, 1, 4, 16)).astype(np.float16) / 8
    table, lengths = np.array([[3, 0]], np.int32), np.array([5], np.int32)
    o = dispatcher.attention_decode(q, *caches, lengths, table, k_scale=scales[0], v_scale=scales[1], order=order)
    expected = dispatcher.attention(q, k[None, :5], v[None, :5])
    np.testing.assert_allclose(o, expected, atol=0.002)


test_calls_that_are_refused = refused(
    _appended,
    [
        ({"order": "dhn"}, "order='dhn': expected nhd or hnd"),
        ({"order": "hnd"}, "k has shape (4, 2, 8), slots (4,): expected (4, 4, 8) and a slot for each token"),
        ({"slots": np.zeros(3, np.int32)}, "expected (3, 2, 8) and a slot for each token"),
        ({"slots": np.zeros(4, np.int16)}, "TypeError: slots has dtype int16: kv_append takes int32, int64"),
        ({"lengths": np.zeros(2, np.int32)}, "expected slots, or lengths of requests"),
        ({"slots": None}, "expected slots, or lengths of requests"),
        ({"slots": None, "lengths": np.zeros(3, np.int32)}, "k has 4 tokens, lengths (3,): expected as many of each"),
        (
            {"slots": None, "lengths": np.zeros(2, np.int32), "table": np.zeros((1, 2), np.int32)},
            "table has shape (1, 2): expected (batch, columns) with lengths",
        ),
        ({"v": np.zeros((4, 2, 4), np.float32)}, "TypeError: k and v have dtypes float16 and float32"),
        ({"k_cache": np.zeros((3, 4, 2, 8), np.int8)}, "TypeError: k_cache and v_cache have dtypes int8 and float16"),
        ({"k_scale": np.ones(1, np.float32)}, "k_scale is not None: expected scales of codes alone"),
        (_of_codes(), "k_scale is None: expected scales of codes alone"),
        (
            _of_codes(k_scale=np.ones(3, np.float32), v_scale=np.ones(3, np.float32)),
            "expected float32 of shape (1,), (2,)",
        ),
        (
            _of_codes(k_scale=np.ones((3, 4, 2), np.float32), v_scale=np.ones((3, 4, 2), np.float32)),
            "k_scale has shape (3, 4, 2): expected k_scale_cache of scales of tokens",
        ),
        ({"v_cache": np.zeros((3, 4, 1, 4), np.float16)}, "v_cache has shape (3, 4, 1, 4): expected that of k_cache"),
        ({"q": np.zeros((4, 1, 8), np.float16)}, "expected cos_sin_cache, which rotates heads, with them"),
        ({"cos_sin_cache": np.zeros((9, 4), np.float32)}, "expected positions with slots, and none with lengths"),
        ({"cos_sin_cache": np.zeros((9, 4), np.float16)}, "cos_sin_cache has dtype float16 and shape (9, 4)"),
        (
            {"cos_sin_cache": np.zeros((9, 10), np.float32), "positions": np.zeros(4, np.int32)},
            "rotary_dim=10: expected an even number of 8 elements",
        ),
        (
            {
                "cos_sin_cache": np.zeros((9, 4), np.float32),
                "positions": np.zeros(4, np.int32),
                "q": np.zeros((4, 1, 4), np.float16),
            },
            "q has dtype float16 and shape (4, 1, 4): expected float16 of (4, heads_q, 8)",
        ),
        ({"k_cache": np.zeros((3, 4, 8), np.float16)}, "k_cache has shape (3, 4, 8): expected 4 axes, pages and nhd"),
    ],
)
