"""What the driver is told at each launch; it is a stand-in, and so is the kernel's code."""

import ctypes
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cuda.bindings import driver
from cuda.core import Device

from autotune.base.cuda_core import CUDAError
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.tensor_map import TENSOR_MAP_BYTES, Swizzle, TensorMap
from autotune.compiler import CompiledKernel
from autotune.devices import launcher, tensor_maps
from autotune.devices.driver import cuda_device_count
from autotune.devices.launcher import LoadedProgram

SOURCE = Program("", (Argument("x", "int"),), (Launch("entry", (3, 1, 1), (64, 1, 1)),))
OK = launcher.driver.CUresult.CUDA_SUCCESS


@pytest.fixture(autouse=True)
def code(monkeypatch):
    code = SimpleNamespace(get_kernel=lambda entry: SimpleNamespace(handle=1))
    monkeypatch.setattr(launcher, "ObjectCode", SimpleNamespace(from_cubin=lambda cubin, name: code))


def test_what_the_driver_must_be_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(launcher.driver, "cuCtxGetDevice", lambda: (OK, 0))
    monkeypatch.setattr(
        launcher.driver, "cuKernelSetAttribute", lambda name, value, *_: asked.append((name.name, value)) or (OK,)
    )
    for sizes in ([(1, 0)], [(8, 0)], [(1, 5), (16, 60000)]):
        steps = tuple(Launch("entry", (16, 1, 1), (64, 1, 1), shared, (blocks, 1, 1)) for blocks, shared in sizes)
        LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), replace(SOURCE, steps=steps))
    assert asked == [
        ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 60000),
        ("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1),
    ]


def test_each_launch_goes_to_its_stream(monkeypatch):
    said = []

    def launched(config, function, parameters, extra):
        packed = ctypes.cast(ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_int))
        said.append((int(config.hStream), config.gridDimX, packed[0]))
        return (0,)

    monkeypatch.setattr(launcher.driver, "cuLaunchKernelEx", launched)
    packed = SOURCE.pack({}, {"x": 5})
    launch = LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), SOURCE).bound(packed)
    for stream in (7, 7, 9, 0, 1, 7):
        launch(stream)
    packed.x = 6
    launch(7)
    assert said == [(stream, 3, 5) for stream in (7, 7, 9, 0, 1, 7)] + [(7, 3, 6)]


def test_steps_are_queued_in_their_order_but_for_empty_grids(monkeypatch):
    said = []
    monkeypatch.setattr(launcher.driver, "cuMemsetD8Async", lambda *told: said.append(told) or (OK,))

    def launched(config, *_):
        said.append((config.gridDimX,))
        return (OK,)

    monkeypatch.setattr(launcher.driver, "cuLaunchKernelEx", launched)
    launches = [Launch("entry", (blocks, 1, 1), (64, 1, 1)) for blocks in (3, 0)]
    program = Program("", (Argument("workspace", "void*"),), (Memset(8, 4, 1), *launches, Memset(0, 2)), 16)
    loaded = LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), program)
    loaded.launch(7, program.pack({"workspace": 0x100}, {}))
    assert said == [(0x108, 1, 4, 7), (3,), (0x100, 0, 2, 7)]


def test_a_launch_that_the_driver_refuses_is_an_error(monkeypatch):
    def handled(result):
        raise CUDAError(result[0].name)

    refused = launcher.driver.CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    monkeypatch.setattr(launcher, "handle_return", handled)
    monkeypatch.setattr(launcher.driver, "cuLaunchKernelEx", lambda *_: (refused,))
    loaded = LoadedProgram(CompiledKernel(b"", Resources(1), "sm_90", ""), SOURCE)
    with pytest.raises(CUDAError, match="OUT_OF_RESOURCES"):
        loaded.launch(7, SOURCE.pack({}, {"x": 5}))


MAP = TensorMap("a", "bfloat16", (70, 100), (104, 1), (8, 64), Swizzle.B128)


def test_the_driver_gets_columns_first_and_strides_in_bytes(monkeypatch):
    asked, memory = [], ctypes.create_string_buffer(b"map", TENSOR_MAP_BYTES)

    def encode(*arguments):
        asked.append(arguments)
        return driver.CUresult.CUDA_SUCCESS, SimpleNamespace(getPtr=lambda: ctypes.addressof(memory))

    monkeypatch.setattr(driver, "cuTensorMapEncodeTiled", encode)
    assert tensor_maps.encode(MAP, 0x1000) == memory.raw
    ((dtype, rank, address, sizes, strides, box, steps, _, swizzle, _, _),) = asked
    assert (dtype.name, rank, address) == ("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 2, 0x1000)
    numbers = [[int(number) for number in group] for group in (sizes, strides, box, steps)]
    assert numbers == [[100, 70], [208], [64, 8], [1, 1]]
    assert swizzle.name == "CU_TENSOR_MAP_SWIZZLE_128B"


def test_the_driver_gets_a_stride_even_of_one_dimension(monkeypatch):
    asked = []

    def encode(*arguments):
        asked.append([int(stride) for stride in arguments[4]])
        return driver.CUresult.CUDA_SUCCESS, driver.CUtensorMap()

    monkeypatch.setattr(driver, "cuTensorMapEncodeTiled", encode)
    tensor_maps.encode(TensorMap("a", "float32", (52,), (1,), (8,)), 0x1000)
    assert asked == [[16]]


def test_the_driver_gets_pixels_columns_first(monkeypatch):
    asked = []

    def encode(*arguments):
        asked.append(arguments)
        return driver.CUresult.CUDA_SUCCESS, driver.CUtensorMap()

    monkeypatch.setattr(driver, "cuTensorMapEncodeIm2col", encode)
    pixels = Im2col(lower=(-1, -2), upper=(-3, -4), steps=(5, 6))
    tensor_maps.encode(TensorMap("x", "bfloat16", (2, 7, 9, 16), (1008, 144, 16, 1), (32, 8), im2col=pixels), 0x1000)
    ((_, rank, address, sizes, strides, lower, upper, channels, count, steps, *_),) = asked
    assert (rank, address, lower, upper, channels, count) == (4, 0x1000, [-2, -1], [-4, -3], 8, 32)
    numbers = [[int(number) for number in group] for group in (sizes, strides, steps)]
    assert numbers == [[16, 9, 7, 2], [32, 288, 2016], [1, 6, 5, 1]]


def test_every_dtype_of_whole_bytes_has_a_map():
    assert set(tensor_maps.TYPES) == set(DType) - {DType.INT4}


def test_each_swizzle_is_that_of_its_name():
    names = {swizzle: encoded.name for swizzle, encoded in tensor_maps.SWIZZLES.items()}
    assert names == {swizzle: f"CU_TENSOR_MAP_SWIZZLE_{swizzle.upper()}" for swizzle in Swizzle}


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_map_that_was_encoded_gets_another_address_where_it_lies(monkeypatch, elsewhere):
    """The driver is asked for one address more, or for all where it changes anything but the first word."""
    memory, asked = ctypes.create_string_buffer(TENSOR_MAP_BYTES), []

    def encode(tensor_map, address):
        asked.append(address)
        other = address.to_bytes(8, "little") if elsewhere else b"constant"
        return address.to_bytes(8, "little") + other + bytes(range(TENSOR_MAP_BYTES - 16))

    def refuse(result):
        raise CUDAError(result[0].name)

    def replace(encoded, address):
        if not address:
            return (driver.CUresult.CUDA_ERROR_INVALID_VALUE,)
        ctypes.memmove(encoded.getPtr(), encode(MAP, address), TENSOR_MAP_BYTES)
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(tensor_maps, "encode", encode)
    monkeypatch.setattr(driver, "cuTensorMapReplaceAddress", replace)
    monkeypatch.setattr(tensor_maps, "handle_return", refuse)
    move = tensor_maps.encoder(MAP, ctypes.addressof(memory), nullcontext())
    move(0x1000)
    move(0x1000)
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        move(0)
    for address in (0x2000, 0x2000, 0x1000, 0x1000, 0x3000):
        move(address)
        before = list(asked)
        assert memory.raw == encode(MAP, address)
        asked[:] = before
    assert asked == ([0x1000, 0x2000, 0x1000, 0x3000] if elsewhere else [0x1000, 0x2000])


@pytest.mark.gpu
def test_the_driver_encodes_it():
    assert cuda_device_count()
    Device(0).set_current()
    memory = (ctypes.c_char * (2 * TENSOR_MAP_BYTES))()
    first = -ctypes.addressof(memory) % 64
    move = tensor_maps.encoder(MAP, ctypes.addressof(memory) + first, nullcontext())
    for address in (0x7F0000000000, 0x7F0000001000, 0x10, 0x123456789AB0):
        move(address)
        assert memory[first : first + TENSOR_MAP_BYTES] == tensor_maps.encode(MAP, address)
