"""Attentions over parts of the keys make that over all of them; what a merge refuses."""

import numpy as np
from refusals import refused

from autotune import dispatcher


def test_parts_make_the_whole():
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((2, keys, 3, 16)).astype(np.float16) for keys in (5, 40, 40))
    lse, merged_lse, part_lse = (np.zeros((2, 3, 5), np.float32) for _ in range(3))
    expected = dispatcher.attention(q, k, v, lse=lse)
    merged, own = np.zeros_like(q), np.full_like(part_lse, -np.inf)
    for begin, end in ((0, 7), (7, 39), (39, 40)):
        part = dispatcher.attention(q, k[:, begin:end], v[:, begin:end], lse=part_lse)
        merged = dispatcher.attention_merge(merged, own, part, part_lse, lse=merged_lse)
        own = merged_lse.copy()
    np.testing.assert_allclose(merged, expected, atol=4e-3)
    np.testing.assert_allclose(own, lse, atol=1e-4)
    swapped = [np.ascontiguousarray(one.swapaxes(1, 2)) for one in (merged, part)]
    found = dispatcher.attention_merge(swapped[0], own, swapped[1], part_lse, order="bhsd")
    together = dispatcher.attention_merge(merged, own, part, part_lse)
    np.testing.assert_array_equal(found.swapaxes(1, 2), together)


def _merged(**changed):
    o, lse = np.zeros((2, 5, 3, 8), np.float32), np.zeros((2, 3, 5), np.float32)
    return dispatcher.attention_merge(**{"first": o, "first_lse": lse, "second": o, "second_lse": lse} | changed)


test_calls_that_are_refused = refused(
    _merged,
    [
        ({"order": "hbsd"}, "order='hbsd': expected bshd or bhsd"),
        ({"second": np.zeros((2, 5, 3, 8), np.float16)}, "second has dtype float16"),
        ({"first_lse": np.zeros((2, 5, 3), np.float32)}, "first_lse has dtype float32 and shape (2, 5, 3): expected"),
        ({"first": np.zeros((2, 5, 3, 8), np.int8)}, "TypeError: first has dtype int8"),
    ],
)
