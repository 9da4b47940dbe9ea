"""Reading arrays of libraries that are not here, and what importing the dispatcher brings in."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from fake_gpu import A, FakeTensor
from hypothesis import given
from hypothesis import strategies as st
from views import strided

from autotune import dispatcher
from autotune.dispatcher.arrays import arrays, libraries
from autotune.dispatcher.arrays import views as array_views
from autotune.search_spaces.contract.registry import OPERATORS


class Interface:
    """An array of a library that nobody has heard of."""

    def __init__(self, stream=None):
        self.__cuda_array_interface__ = {"shape": (2, 2), "typestr": "<f4", "data": (0, False), "version": 3}
        if stream is not None:
            self.__cuda_array_interface__["stream"] = stream


def test_the_stream_of_the_cuda_array_interface_is_the_current_one():
    assert arrays.current_stream(Interface()) == 1
    assert arrays.current_stream(Interface(stream=2)) == 2
    assert arrays.current_stream(Interface(stream=12345)) == 12345


def test_an_unknown_library_allocates_nothing():
    with pytest.raises(ValueError, match=r"cannot allocate a .*Interface: pass out=, of shape \(2, 3\)"):
        arrays.empty((2, 3), "float32", Interface())


def test_a_host_array_of_another_library_is_refused():
    host = SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (1, 0))
    with pytest.raises(ValueError, match=r"a is on DLPack device \(1, 0\): move it to a GPU"):
        arrays.read("a", host, 1)


def test_a_tensor_on_the_cpu_is_on_the_host_and_has_no_stream():
    tensor = FakeTensor(A, (4, 5))
    tensor.is_cuda, tensor.is_cpu = False, True
    assert arrays.read("a", tensor, 1).device == array_views.HOST
    assert arrays.current_stream(tensor) == 1
    assert arrays.stream_of(tensor)() == 0


def test_what_cannot_be_exported_gets_one_line():
    class Unexportable:
        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, **_):
            raise BufferError("it is sparse")

    with pytest.raises(ValueError, match="a cannot be read: it is sparse"):
        arrays.read("a", Unexportable(), 1)


def test_subclasses_are_read_as_their_library_does():
    class Mine(np.ndarray):
        pass

    view = arrays.read("a", np.zeros((2, 3), np.float32).view(Mine), 1)
    assert view.device == array_views.HOST
    assert view.layout[:2] == ((2, 3), (3, 1))


@given(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)))
def test_dense_strides_are_those_of_numpy(shape):
    expected = np.empty(tuple(max(1, size) for size in shape), np.int8).strides
    assert 0 in shape or libraries._dense_strides(shape) == expected


@given(st.data())
def test_overlap_is_exact(data):
    memory = np.zeros(60, data.draw(st.sampled_from([np.int8, np.float32])))
    views = []
    for _ in range(2):
        rows, columns, leading = (data.draw(st.integers(low, 4)) for low in (0, 0, 4))
        start = data.draw(st.integers(0, 40))
        views.append(memory[start : start + 4 * leading].reshape(4, leading)[:rows, :columns])
    first, second = (arrays.read("x", view, 0) for view in views)
    assert array_views.overlap(first, second) == np.shares_memory(*views)


@pytest.mark.parametrize(("first", "shared"), [(1, True), (2, False)])
def test_columns_of_one_matrix_overlap_if_they_share_one(first, shared):
    memory = np.zeros((3, 4), np.float32)
    left, right = (arrays.read("x", view, 0) for view in (memory[:, :2], memory[:, first:]))
    assert array_views.overlap(left, right) == shared


@given(st.integers(0, 15))
def test_alignment_is_that_of_the_first_element(offset):
    array = strided((3, 3), "int8", offset=offset)
    alignment = arrays.read("a", array, 0).layout.alignment
    assert alignment == next(power for power in (16, 8, 4, 2, 1) if offset % power == 0)


def test_an_empty_array_at_no_address_is_aligned():
    assert arrays.read("a", FakeTensor(0, (0, 3)), 0).layout.alignment == 16


NO_DRIVER = {"cuda", "cuda.core", "cuda.bindings", "optuna", "sqlalchemy", "alembic", "torch", "cupy", "typer", "rich"}
UNUSED = {"autotune.db.trials", "subprocess"}  # by a call that finds a snapshot


@pytest.mark.parametrize(
    ("statement", "left_out"),
    [
        ("import autotune.dispatcher", NO_DRIVER | {"numpy", "autotune.codegen", "autotune.db"}),
        ("from autotune.dispatcher import sgemm, plan, explain, warm", NO_DRIVER),
        ("from autotune.dispatcher import sgemm, plan", NO_DRIVER | UNUSED),
    ],
)
def test_importing_touches_no_driver_and_no_heavy_module(statement, left_out):
    program = f"""
import sys
{statement}
heavy = {left_out} & set(sys.modules)
sys.exit(f"imported {{sorted(heavy)}}" if heavy else 0)
"""
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr


def test_every_public_name_is_there():
    assert all(getattr(dispatcher, name).__doc__ for name in (*dispatcher.__all__, *OPERATORS))
    assert {*dispatcher.__all__, *OPERATORS} <= set(dir(dispatcher))
    with pytest.raises(AttributeError, match="has no attribute 'sgem'"):
        dispatcher.sgem  # noqa: B018
