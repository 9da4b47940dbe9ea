"""Repeated calls with PyTorch's own tensors: the same launches as by reading every tensor anew."""

import pytest
from fake_gpu import FakeGpu

from autotune import dispatcher
from autotune.dispatcher.arrays import arrays, libraries
from autotune.dispatcher.arrays.views import View
from autotune.dispatcher.calls import plan as plans

torch = pytest.importorskip("torch")


@pytest.fixture
def read(monkeypatch):
    """How often a tensor was read, by a dispatcher that takes tensors on the CPU for a GPU's."""
    names = []

    def read(name, tensor, stream):
        names.append(name)
        layout = libraries._layout(tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), "float32", 4)
        return View(tensor.data_ptr(), layout, 0, False)

    streams = {"stream": lambda tensor: 77, "streams": lambda tensor: lambda: 77}
    monkeypatch.setitem(arrays._LIBRARIES, "torch", libraries.TORCH._replace(read=read, **streams))
    monkeypatch.setattr(arrays, "_known", {})
    return names


@pytest.fixture
def gpu(monkeypatch):
    fake = FakeGpu()
    monkeypatch.setattr(plans, "target", lambda ordinal: fake)
    return fake


def tensors(*shapes):
    """Aligned to 64 bytes, as PyTorch allocates them."""
    return [torch.zeros(shape) for shape in shapes]


def launched(gpu):
    stream, arguments = gpu.launched[-1]
    assert stream == 77
    return [arguments[name] for name in ("a", "b", "c", "alpha")]


@pytest.mark.parametrize("given", [False, True])
def test_new_tensors_of_the_same_kind_are_not_read_again(gpu, read, given):
    counts = []
    for alpha in (1.0, 2.0, 3.0):
        a, b, c = tensors((8, 12), (12, 16), (8, 16))
        out = dispatcher.sgemm(a, b, out=c if given else None, alpha=alpha)
        assert (out is c) == given
        assert out.shape == (8, 16)
        assert launched(gpu) == [a.data_ptr(), b.data_ptr(), out.data_ptr(), alpha]
        counts.append(len(read))
    assert counts[0] == counts[1] == counts[2] > 0
    assert len(gpu.loaded) == 1


def test_a_column_major_output_swaps_each_time(gpu, read):
    for _ in range(3):
        a, b, c = tensors((8, 12), (12, 16), (16, 8))
        dispatcher.sgemm(a, b, out=c.T)
        assert launched(gpu)[:3] == [b.data_ptr(), a.data_ptr(), c.data_ptr()]


def test_tensors_that_are_less_aligned_get_another_kernel(gpu, read):
    for _ in range(2):
        a, b, c = tensors((8, 12), (12, 16), (8, 16))
        dispatcher.sgemm(a, b, out=c)
    (shifted,) = tensors((8 * 12 + 1,))
    odd = shifted[1:].view(8, 12)
    for _ in range(2):
        dispatcher.sgemm(odd, b, out=c)
        assert launched(gpu)[0] == odd.data_ptr()
    assert len(gpu.loaded) == 2


def test_an_output_that_overlaps_is_refused_later_too(gpu, read):
    memory = torch.zeros(3, 8, 8)
    for _ in range(2):
        dispatcher.sgemm(memory[0], memory[1], out=memory[2])
    flat = memory.view(-1)
    for out in (memory[1], flat[32:96].view(8, 8)):
        with pytest.raises(ValueError, match="out overlaps"):
            dispatcher.sgemm(memory[0], memory[1], out=out)
    assert len(gpu.launched) == 2


def test_a_gradient_is_refused_later_too(gpu, read):
    weight = torch.nn.Parameter(torch.zeros(12, 16))
    for _ in range(2):
        with torch.no_grad():
            dispatcher.sgemm(*tensors((8, 12)), weight)
        with pytest.raises(ValueError, match="b requires a gradient"):
            dispatcher.sgemm(*tensors((8, 12)), weight)
