"""What the driver is asked to encode; the driver is a stand-in."""

import ctypes
from types import SimpleNamespace

import pytest
from cuda.bindings import driver

from autotune.codegen.dtype import DType
from autotune.codegen.tensor_map import TENSOR_MAP_BYTES, Swizzle, TensorMap
from autotune.devices import tensor_maps
from autotune.devices.driver import cuda_device_count

MAP = TensorMap("a", "bfloat16", (70, 100), (104, 1), (8, 64), Swizzle.B128)


@pytest.fixture(autouse=True)
def none_encoded(monkeypatch):
    monkeypatch.setattr(tensor_maps, "_encoded", {})


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


def test_every_dtype_of_whole_bytes_has_a_map():
    assert set(tensor_maps._TYPES) == set(DType) - {DType.INT4}


def test_each_swizzle_is_that_of_its_name():
    names = {swizzle: encoded.name for swizzle, encoded in tensor_maps._SWIZZLES.items()}
    assert names == {swizzle: f"CU_TENSOR_MAP_SWIZZLE_{swizzle.upper()}" for swizzle in Swizzle}


def test_a_map_that_was_encoded_gets_another_address(monkeypatch):
    memory, moved = ctypes.create_string_buffer(b"map", TENSOR_MAP_BYTES), []
    encoded = SimpleNamespace(getPtr=lambda: ctypes.addressof(memory))

    def replace(asked, address):
        moved.append((asked, address))
        memory.raw = address.to_bytes(TENSOR_MAP_BYTES, "little")
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(tensor_maps, "_encoded", {MAP: encoded})
    monkeypatch.setattr(driver, "cuTensorMapReplaceAddress", replace)
    assert tensor_maps.encode(MAP, 0x2000) == (0x2000).to_bytes(TENSOR_MAP_BYTES, "little")
    assert moved == [(encoded, 0x2000)]


def test_few_maps_are_kept(monkeypatch):
    monkeypatch.setattr(tensor_maps, "_encoded", kept := dict.fromkeys(range(tensor_maps._MOST_KEPT), "map"))
    monkeypatch.setattr(tensor_maps, "_anew", lambda tensor_map, address: SimpleNamespace(getPtr=lambda: address))
    memory = ctypes.create_string_buffer(TENSOR_MAP_BYTES)
    tensor_maps.encode(MAP, ctypes.addressof(memory))
    assert list(kept) == [MAP]


@pytest.mark.gpu
def test_the_driver_encodes_it():
    assert cuda_device_count()
    encoded = tensor_maps.encode(MAP, 0x7F0000000000)
    assert len(encoded) == TENSOR_MAP_BYTES
    moved = tensor_maps.encode(MAP, 0x7F0000001000)
    assert encoded != moved
    tensor_maps._encoded.clear()
    assert moved == tensor_maps.encode(MAP, 0x7F0000001000)
