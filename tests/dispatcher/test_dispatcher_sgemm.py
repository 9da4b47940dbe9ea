"""sgemm on NumPy arrays, which the emulator computes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused
from views import ODD_SIZES, layouts, strided

from autotune import dispatcher

# Plans and databases of one example may serve the next.
relaxed = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_close(actual, a, b, alpha=1.0, c=0.0, beta=0.0):
    """Within the error bound of SgemmProblem for values of at most 1."""
    expected = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + beta * np.float64(c)
    bound = 4 * 2.0**-24 * ((a.shape[-1] + 4) * abs(alpha) + 4 * abs(beta))
    assert actual.shape == expected.shape
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected, rtol=0, atol=bound)


@st.composite
def products(draw):
    m, n, k = (draw(st.sampled_from(ODD_SIZES)) for _ in range(3))
    batch = draw(st.sampled_from((1, 2, 3)))
    batches = st.sampled_from(((), (1,), (batch,)))
    a, b = (strided((*draw(batches), *shape), **draw(layouts())) for shape in ((m, k), (k, n)))
    return a, b


@pytest.mark.usefixtures("defaults_only")
@relaxed
@given(products())
def test_any_layout_and_batch_multiplies_as_numpy_does(operands):
    a, b = operands
    before = a.copy(), b.copy()
    assert_close(dispatcher.sgemm(a, b), a, b)
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


@pytest.mark.usefixtures("defaults_only")
def test_an_out_that_has_become_read_only_is_refused():
    a, b, out = (np.ones(shape, np.float32) for shape in ((5, 33), (33, 5), (5, 5)))
    dispatcher.sgemm(a, b, out=out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        dispatcher.sgemm(a, b, out=out)


@pytest.mark.usefixtures("defaults_only")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 3, 5, 33), (2, 3, 33, 5)),
        ((2, 3, 5, 33), (33, 5)),
        ((1, 1, 5, 33), (3, 33, 5)),
        ((2, 3, 5, 33), (1, 33, 5)),
        ((2, 1, 3, 5, 33), (2, 1, 3, 33, 5)),
    ],
)
def test_batches_may_have_any_number_of_axes(a, b):
    random = np.random.default_rng(0)
    first, second = (random.uniform(-1, 1, shape).astype(np.float32) for shape in (a, b))
    assert_close(dispatcher.sgemm(first, second), first, second)
    np.testing.assert_array_equal(dispatcher.transpose(first), first.swapaxes(-1, -2))


@pytest.mark.usefixtures("defaults_only")
def test_a_batch_that_repeats_one_matrix_is_no_copy():
    random = np.random.default_rng(0)
    one, others = random.uniform(-1, 1, (5, 33)).astype("f4"), random.uniform(-1, 1, (2, 3, 33, 5)).astype("f4")
    repeated = np.broadcast_to(one, (2, 3, 5, 33))
    out = np.zeros((2, 3, 5, 5), np.float32)
    assert dispatcher.sgemm(repeated, others, out=out) is out
    assert_close(out, repeated, others)


@pytest.mark.usefixtures("defaults_only")
@relaxed
@given(products(), layouts(), st.sampled_from((1.0, -0.5, 0.0)), st.sampled_from((0.0, 1.0, 0.25)))
def test_out_is_scaled_and_its_gaps_stay(operands, layout, alpha, beta):
    a, b = operands
    out = strided((a @ b).shape, **layout)
    memory = out
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    everything = memory.copy()
    before = out.copy()
    assert dispatcher.sgemm(a, b, out=out, alpha=alpha, beta=beta) is out
    assert_close(out, a, b, alpha, before, beta)
    out[...] = before
    np.testing.assert_array_equal(memory, everything)


@pytest.mark.usefixtures("defaults_only")
@pytest.mark.parametrize("alignment", [4, 8, 16])
def test_whole_tiles_of_any_alignment(alignment):
    gap, offset = {16: (0, 0), 8: (2, 2), 4: (1, 1)}[alignment]
    a, b = (strided(shape, gap=gap, offset=offset) for shape in ((32, 64), (64, 64)))
    assert_close(dispatcher.sgemm(a, b), a, b)


def test_nan_in_out_does_not_matter_without_beta():
    a, b = strided((5, 33)), strided((33, 5))
    out = np.full((5, 5), np.nan, np.float32)
    assert_close(dispatcher.sgemm(a, b, out=out), a, b)


@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_nan_in_a_and_b_does_not_matter_without_alpha(beta):
    a, b = np.full((5, 33), np.nan, np.float32), np.full((33, 5), np.nan, np.float32)
    out = strided((5, 5))
    before = out.copy()
    np.testing.assert_array_equal(dispatcher.sgemm(a, b, out=out, alpha=0.0, beta=beta), beta * before)


@pytest.mark.parametrize("shapes", [((0, 5), (5, 5)), ((5, 5), (5, 0)), ((0, 5, 5), (5, 5)), ((0, 0), (0, 0))])
def test_an_empty_product_launches_nothing(shapes, no_launch):
    a, b = (np.ones(shape, np.float32) for shape in shapes)
    assert dispatcher.sgemm(a, b).shape == (a @ b).shape


def test_an_empty_sum_is_zero_or_what_out_held():
    a, b = np.ones((5, 0), np.float32), np.ones((0, 33), np.float32)
    np.testing.assert_array_equal(dispatcher.sgemm(a, b), np.zeros((5, 33)))
    np.testing.assert_array_equal(
        dispatcher.sgemm(a, b, out=np.ones((5, 33), np.float32), beta=3.0), np.full((5, 33), 3.0)
    )


def test_columns_of_one_matrix_may_be_operands_and_out():
    memory = strided((33, 99), gap=0)
    a, b, out = (memory[:, start : start + 33] for start in (0, 33, 66))
    before = memory.copy()
    assert_close(dispatcher.sgemm(a, b, out=out), before[:, :33], before[:, 33:66])
    np.testing.assert_array_equal(memory[:, :66], before[:, :66])


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


test_bad_arguments_get_one_line = refused(
    lambda a, out=None: dispatcher.transpose(a, out=out),
    [
        ((np.ones(5, "f4"), None), r"a has shape \(5,\): expected a matrix"),
        ((np.ones((5, 4), "f4").T, None), "a has shape .*: expected contiguous rows"),
        ((np.ones((5, 4), "f4"), np.ones((5, 4), "f4")), r"out has shape \(5, 4\): expected \(4, 5\)"),
        ((np.ones((5, 4), "f4"), np.ones((5, 4), "f4").T), "out has shape .*: expected contiguous rows"),
        ((np.ones((5, 4), "f4"), np.ones((4, 5), "i4")), "TypeError: out has dtype int32: expected float32"),
        ((np.ones((5, 4), "U3"), None), "TypeError: a has elements of 12 bytes: transpose takes 1, 2, 4, 8, 16"),
        ((np.ones((5, 4), "O"), None), "TypeError: a has dtype object: expected plain numbers"),
        ((np.broadcast_to(np.ones((5, 4), "f4"), (2, 5, 4)), None), "expected contiguous rows"),
    ],
)


def test_out_may_not_overlap_a(no_launch):
    a = np.ones((5, 5), np.float32)
    with pytest.raises(ValueError, match="out overlaps a"):
        dispatcher.transpose(a, out=a)
