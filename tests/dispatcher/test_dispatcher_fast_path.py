"""Repeated calls with PyTorch's own tensors: the same launches as by reading every tensor anew."""

import weakref

import pytest
from fake_gpu import FakeGpu
from toy_call import Launches, toy

from autotune import dispatcher
from autotune.dispatcher.arrays import arrays, libraries
from autotune.dispatcher.arrays.views import View
from autotune.dispatcher.calls import function
from autotune.dispatcher.calls import plan as plans

torch = pytest.importorskip("torch")


@pytest.fixture
def read(monkeypatch):
    """How often a tensor was read, by a dispatcher that takes tensors on the CPU for a GPU's."""
    names = []

    def read(name, tensor, stream):
        names.append(name)
        layout = libraries._layout(
            tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.itemsize
        )
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


@pytest.fixture
def launches(monkeypatch, read):
    return Launches(monkeypatch)


def address(tensor):
    return tensor.data_ptr()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("totalled", [False, True])
@pytest.mark.parametrize("given", ["nothing", "outputs", "in place"])
def test_optional_arrays_and_several_outputs_are_recognised(launches, read, masked, totalled, given):
    function, counts = toy().function, []
    for by in (1.0, 2.0, 3.0):
        x, y, mask, total = tensors((4, 16), (4, 16), (16,), (4,))
        arguments = {"mask": mask if masked else None, "total": total if totalled else None}
        if given != "nothing":
            arguments |= {"out": x if given == "in place" else y, "index": torch.zeros(4, dtype=torch.int64)}
        out, index = function(x, by=by, **arguments)
        assert launches.launched[-1] == (77, {
            "source": address(x), "mask": masked * address(mask), "y": address(out), "where": address(index),
            "sums": totalled * address(total), "by": by, "seed": 0,
        })  # fmt: skip
        assert (out is x, out is y) == (given == "in place", given == "outputs")
        counts.append(len(read))
    assert counts[0] == counts[1] == counts[2] > 0


def test_what_is_left_out_or_in_place_is_another_call(launches):
    function = toy().function
    x, mask, index = *tensors((4, 16), (16,)), torch.zeros(4, dtype=torch.int64)
    for _ in range(2):
        for arguments in ({}, {"mask": mask}, {"out": x, "index": index}, {"dim": [0]}):
            function(x, **arguments)
    assert [problem.key for problem in launches.made] == ["(4, 16) dim-1"] * 3 + ["(4, 16) dim(0,)"]
    assert [values["mask"] for _, values in launches.launched] == [0, address(mask), 0, 0] * 2


def test_an_output_that_is_an_input_in_part_is_refused_later_too(launches):
    function = toy().function
    memory, index = torch.zeros(8, 16), torch.zeros(4, dtype=torch.int64)
    for _ in range(2):
        function(memory[:4], out=memory[4:], index=index)
        function(memory[:4], out=memory[:4], index=index)
        with pytest.raises(ValueError, match="out overlaps x in part"):
            function(memory[:4], out=memory[1:5], index=index)
    assert len(launches.launched) == 4


def test_an_output_beside_new_ones_that_overlaps_is_refused_later_too(launches):
    function = toy().function
    memory = torch.zeros(5, 16)
    for _ in range(2):
        function(memory[:4], total=memory[4, :4])
        with pytest.raises(ValueError, match="total overlaps x"):
            function(memory[:4], total=memory[0, :4])
    assert len(launches.launched) == 2


def test_a_recognised_call_keeps_no_tensor_alive(launches):
    (x,) = tensors((4, 16))
    gone = weakref.ref(x)
    function = toy().function
    function(x)
    del x
    assert gone() is None
    assert function


def test_columns_of_one_matrix_are_apart_each_time(gpu, read):
    counts = []
    for _ in range(3):
        (memory,) = tensors((8, 24))
        a, b, out = memory[:, :8], memory[:, 8:16], memory[:, 16:]
        dispatcher.sgemm(a, b, out=out)
        assert launched(gpu)[:3] == [a.data_ptr(), b.data_ptr(), out.data_ptr()]
        counts.append(len(read))
    assert counts[0] == counts[1] == counts[2]
    with pytest.raises(ValueError, match="out overlaps b"):
        dispatcher.sgemm(memory[:, :8], memory[:, 8:16], out=memory[:, 12:20])


def test_in_place_needs_no_exact_comparison(launches, monkeypatch):
    compute, (x,), index = toy().function, tensors((4, 16)), torch.zeros(4, dtype=torch.int64)
    compute(x, out=x, index=index)
    monkeypatch.setattr(function, "check_apart", None)
    compute(x, out=x, index=index)
    assert len(launches.launched) == 2
