"""JAX arrays: the real ones on a GPU, and what becomes of them without one."""

import os

import numpy as np
import pytest
from cuda.core.utils import StridedMemoryView

from autotune import dispatcher
from autotune.dispatcher.arrays import libraries
from autotune.dispatcher.calls import plan, ready_call

jax = pytest.importorskip("jax")
# Else JAX takes three quarters of a GPU's memory for itself, which tests beside it need.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def random(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


@pytest.fixture
def as_if_on_a_gpu(gpu, monkeypatch):
    """A dispatcher that takes JAX's arrays on the CPU for a GPU's."""
    cpu = jax.devices("cpu")[0]
    view = type("View", (), {})

    def strided_view(array, stream):
        seen = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
        found = view()
        found.ptr, found.shape, found.strides, found.dtype = seen.ptr, seen.shape, seen.strides, seen.dtype
        found.device_id, found.readonly = 0, seen.readonly
        return found

    monkeypatch.setattr(libraries, "_ON_CUDA", (1,))
    monkeypatch.setattr(libraries, "_strided_view", strided_view)
    for module in (plan, ready_call):
        monkeypatch.setattr(module, "target", lambda ordinal: gpu)
    with jax.default_device(cpu):
        yield gpu


def test_the_output_is_a_new_array_of_jax_and_complete(as_if_on_a_gpu):
    a, b = jax.numpy.asarray(random(4, 5)), jax.numpy.asarray(random(5, 6))
    out = dispatcher.sgemm(a, b, alpha=0.5)
    assert isinstance(out, jax.Array)
    assert (out.shape, out.dtype, out.device) == ((4, 6), np.float32, a.device)
    (stream, arguments), waited = as_if_on_a_gpu.launched
    assert waited == (stream, "synchronized") == (1, "synchronized")
    pointers = {name: array.unsafe_buffer_pointer() for name, array in (("a", a), ("b", b), ("c", out))}
    assert arguments.items() >= (pointers | {"alpha": 0.5}).items()
    turned = dispatcher.transpose(a, stream=9)
    assert (turned.shape, as_if_on_a_gpu.launched[-1]) == ((5, 4), (9, "synchronized"))


def test_nobody_writes_to_an_array_that_somebody_has(as_if_on_a_gpu):
    a, b, out = (jax.numpy.zeros((4, 4)) for _ in range(3))
    for call in (lambda: dispatcher.sgemm(a, b, out=out), lambda: dispatcher.transpose(a, out=out)):
        with pytest.raises(ValueError, match="out is a ArrayImpl, and arrays of its library are immutable"):
            call()
    with pytest.raises(ValueError, match="a plan writes to its output repeatedly"):
        dispatcher.plan("sgemm", a, b)
    assert as_if_on_a_gpu.launched == []


def test_what_is_traced_has_no_values(as_if_on_a_gpu):
    with pytest.raises(TypeError, match=r"a is traced by JAX and has no values: call this outside of jax\.jit"):
        jax.jit(dispatcher.sgemm)(jax.numpy.zeros((4, 5)), jax.numpy.zeros((5, 6)))


def test_arrays_on_the_cpu_are_refused():
    a = jax.device_put(random(4, 4), jax.devices("cpu")[0])
    with pytest.raises(ValueError, match=r"a is on DLPack device \(1, 0\): move it to a GPU, or pass NumPy arrays"):
        dispatcher.sgemm(a, a)


@pytest.mark.gpu
def test_products_on_a_gpu_and_what_jax_makes_of_them():
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    a, b = random(300, 2000), random(2000, 200, seed=1)
    first, second = jax.numpy.asarray(a) * 2, jax.numpy.asarray(b)
    for _ in range(3):
        c = dispatcher.sgemm(first, second) + 1
        np.testing.assert_allclose(np.asarray(c), 2 * (a.astype(np.float64) @ b) + 1, rtol=0, atol=2e-3)
    np.testing.assert_array_equal(np.asarray(dispatcher.transpose(second)), b.T)
