"""An array that is less aligned than the one before it gets another kernel, whatever its library and however fast."""

from types import SimpleNamespace

import numpy as np
import pytest
from fake_gpu import A, B, C, FakeTensor

from autotune import dispatcher
from autotune.dispatcher.arrays import arrays, libraries


class Array:
    """As much of a CuPy array, or of one with DLPack, as is asked before it is read."""

    __cuda_array_interface__ = None

    def __init__(self, pointer):
        self.pointer = pointer


class CupyArray(Array):
    __module__ = "cupy"


@pytest.fixture
def strided_views(monkeypatch):
    """Reading without a driver."""

    def view(array, stream):
        return SimpleNamespace(
            ptr=array.pointer, shape=(4, 8), strides=(8, 1), dtype=np.dtype(np.float32), device_id=0, readonly=False
        )

    monkeypatch.setattr(libraries, "_strided_view", view)
    monkeypatch.setattr(arrays, "_known", {})


def numpy_array(pointer):
    memory = np.zeros(64, np.float32)
    begin = -memory.ctypes.data % 16 // 4 + pointer % 16 // 4
    return memory[begin : begin + 32].reshape(4, 8)


@pytest.mark.usefixtures("strided_views")
@pytest.mark.parametrize("make", [numpy_array, CupyArray, Array])
def test_calls_are_told_apart_by_alignment(make):
    kinds = [arrays.fingerprint("a", make(A + offset), 1)[1] for offset in (0, 16, 8, 4)]
    assert kinds[0] == kinds[1]
    assert len(set(kinds)) == 3


class Guards:
    """Stands for PyTorch's comparison with tensors that it saw before, of which addresses are no part."""

    def __init__(self, *tensors, dynamic_dims_sizes, dynamic_dims_strides):
        self._kinds = [self._kind(tensor) for tensor in tensors]

    def check(self, *tensors):
        return [self._kind(tensor) for tensor in tensors] == self._kinds

    def _kind(self, tensor):
        return tensor.shape, tensor.stride(), tensor.dtype, tensor.device


@pytest.fixture
def read(gpu, monkeypatch):
    """The names of arrays that were read, by a dispatcher whose PyTorch recognises tensors."""
    import torch  # the stand-in of the fixture `streams`

    monkeypatch.setattr(torch, "Tensor", FakeTensor, raising=False)
    guards = SimpleNamespace(guards=SimpleNamespace(TensorGuards=Guards))
    monkeypatch.setattr(torch._C, "_dynamo", guards, raising=False)
    names, fingerprint = [], arrays.fingerprint

    def counted(name, array, stream):
        names.append(name)
        return fingerprint(name, array, stream)

    monkeypatch.setattr(arrays, "fingerprint", counted)
    return names


def call(offset):
    dispatcher.sgemm(FakeTensor(A + offset, (8, 12)), FakeTensor(B, (12, 16)), out=FakeTensor(C, (8, 16)))


def test_a_recognised_call_reads_no_array_unless_one_is_less_aligned(gpu, read):
    call(0)
    first = len(read)
    call(64)
    assert len(read) == first > 0
    assert len(gpu.loaded) == 1
    for _ in range(2):
        call(4)
        assert len(gpu.loaded) == 2
        assert gpu.launched[-1][1]["a"] == A + 4
    assert len(read) > first


def test_a_call_with_a_less_aligned_array_is_not_remembered(gpu, read):
    call(4)
    call(0)
    assert len(gpu.loaded) == 2
