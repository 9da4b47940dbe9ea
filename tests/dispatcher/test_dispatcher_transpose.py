"""transpose on NumPy arrays, which the emulator computes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import ODD_SIZES, strided

from autotune import dispatcher

DTYPES = ("int8", "float16", "float32", "float64", "complex128")


@pytest.mark.usefixtures("defaults_only")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_row_major_array_is_transposed_bit_for_bit(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    batch = data.draw(st.sampled_from(((), (1,), (3,))))
    m, n = (data.draw(st.sampled_from(ODD_SIZES)) for _ in range(2))
    gaps = st.integers(0, 1).map(lambda odd: 2 * odd)
    a = strided((*batch, m, n), dtype, gap=data.draw(gaps), offset=1, seed=data.draw(st.integers(0, 9)))
    out = strided((*batch, n, m), dtype, gap=data.draw(gaps), offset=1) if data.draw(st.booleans()) else None
    result = dispatcher.transpose(a, out=out)
    assert out is None or result is out
    assert result.dtype == a.dtype
    assert result.tobytes() == a.swapaxes(-1, -2).tobytes()


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 5, 5)])
def test_an_empty_array_launches_nothing(shape, no_launch):
    assert dispatcher.transpose(np.ones(shape, np.float32)).shape == np.ones(shape).swapaxes(-1, -2).shape


@pytest.mark.parametrize(
    ("a", "out", "error", "message"),
    [
        (np.ones(5, "f4"), None, ValueError, r"a has shape \(5,\): expected a matrix"),
        (np.ones((5, 4), "f4").T, None, ValueError, "a has strides .*: transpose takes row-major matrices"),
        (np.ones((5, 4), "f4"), np.ones((5, 4), "f4"), ValueError, r"out has shape \(5, 4\): expected \(4, 5\)"),
        (np.ones((5, 4), "f4"), np.ones((5, 4), "f4").T, ValueError, "out has strides .*: transpose takes row-major"),
        (np.ones((5, 4), "f4"), np.ones((4, 5), "i4"), TypeError, "out has dtype int32: expected float32"),
        (np.ones((5, 4), "U3"), None, TypeError, "a has elements of 12 bytes: transpose takes 1, 2, 4, 8, 16"),
        (np.ones((5, 4), "O"), None, TypeError, "a has dtype object: expected plain numbers"),
        (np.broadcast_to(np.ones((5, 4), "f4"), (2, 5, 4)), None, ValueError, "its matrices are all one"),
    ],
)
def test_bad_arguments_get_one_line(a, out, error, message, no_launch):
    with pytest.raises(error, match=message) as caught:
        dispatcher.transpose(a, out=out)
    assert "\n" not in str(caught.value)


def test_out_may_not_overlap_a(no_launch):
    a = np.ones((5, 5), np.float32)
    with pytest.raises(ValueError, match="out overlaps a"):
        dispatcher.transpose(a, out=a)
