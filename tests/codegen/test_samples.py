"""Which rows of a large output are judged."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autotune.codegen.model.samples import sampled_rows


@given(st.integers(0, 5000), st.integers(0, 2**32 - 1), st.integers(1, 100))
def test_rows_are_spread_and_edges_are_among_them(rows: int, seed: int, most: int) -> None:
    found = sampled_rows(rows, seed, most)
    assert (found is None) == (rows <= most)
    if found is not None:
        edges = {edge - side for edge in (8, 64, 256) if edge < rows for side in (0, 1)}
        assert edges | {0, rows - 1} <= {*found.tolist()}
        assert (np.diff(found) > 0).all() and found.max() < rows
        assert np.diff(found).max() <= 2 * -(-rows // most)
        np.testing.assert_array_equal(found, sampled_rows(rows, seed, most))


def test_seeds_and_sizes_choose_others() -> None:
    chosen = [sampled_rows(rows, seed, 50) for rows in (9000, 9001) for seed in (0, 1)]
    assert len({found.tobytes() for found in chosen if found is not None}) == 4
