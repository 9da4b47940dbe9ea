"""codegen/cuda/shared_matrices.cuh: lanes get and give the elements that the PTX manual says."""

import numpy as np
import pytest

from autotune.emulator import EmulatorError

# Shared memory has 32 rows of 8 numbers of 16 bits, of which row r has 8·r to 8·r + 7.
LOAD = """for (int i = t; i < 128; i += 32) s[i] = x[i];
BARRIER
unsigned registers[4];
load_matrices<TRANSPOSED>(registers, ROW);
for (int i = 0; i < 4; ++i) y[4 * t + i] = __uint_as_float(registers[i]);"""
NUMBERS = np.arange(256, dtype=np.uint16)


def source(kernel, transposed="false", row="s + 4 * t", barrier="__syncwarp();"):
    body = LOAD.replace("TRANSPOSED", transposed).replace("ROW", row).replace("BARRIER", barrier)
    return kernel(body, threads=32, headers=("shared_matrices",), shared_bytes=512)


@pytest.mark.parametrize("transposed", ["false", "true"])
def test_lanes_get_neighbours(transposed, kernel, run):
    """Lane l has row l / 4, columns 2·(l % 4) and the next, of each matrix, or of its transpose."""
    found = run(source(kernel, transposed), NUMBERS.view(np.float32), 128).view(np.uint16).reshape(32, 4, 2)
    matrices = NUMBERS.reshape(4, 8, 8)
    if transposed == "true":
        matrices = matrices.swapaxes(1, 2)
    expected = matrices.reshape(4, 32, 2).swapaxes(0, 1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"row": "s + 2 * t"}, r"a row of ldmatrix lies at byte \d+ of .*, which is not aligned to 16 bytes"),
        ({"row": "s + 4 * t + 4"}, "reads bytes 512 to 527 of shared memory, which has 512 bytes"),
        ({"barrier": ""}, "race"),
    ],
)
def test_a_wrong_load_is_reported(wrong, message, kernel, run):
    with pytest.raises(EmulatorError, match=message):
        run(source(kernel, **wrong), NUMBERS.view(np.float32), 128)


STORE = """unsigned registers[4];
for (int i = 0; i < 4; ++i) registers[i] = __float_as_uint(x[4 * t + i]);
store_matrices(ROW, registers);
BARRIER
for (int i = 4; i < 8; ++i) y[(4 * t + i) % 128] = s[(4 * t + i) % 128];"""


def stored(kernel, store="store_matrices", row="s + 4 * t", barrier="__syncwarp();"):
    body = STORE.replace("store_matrices", store).replace("ROW", row).replace("BARRIER", barrier)
    return kernel(body, threads=32, headers=("shared_matrices",), shared_bytes=512)


@pytest.mark.parametrize("store", ["store_matrices", "store_transposed"])
def test_lanes_give_neighbours(store, kernel, run):
    """The inverse of a load."""
    found = run(stored(kernel, store), NUMBERS.view(np.float32), 128).view(np.uint16).reshape(4, 8, 8)
    if store == "store_transposed":
        found = found.swapaxes(1, 2)
    np.testing.assert_array_equal(found.reshape(4, 32, 2).swapaxes(0, 1), NUMBERS.reshape(32, 4, 2))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"row": "s + 2 * t"}, r"a row of stmatrix lies at byte \d+ of .*, which is not aligned to 16 bytes"),
        ({"row": "s + 4 * t + 4"}, "writes bytes 512 to 527 of shared memory, which has 512 bytes"),
        ({"barrier": ""}, "race"),
    ],
)
def test_a_wrong_store_is_reported(wrong, message, kernel, run):
    with pytest.raises(EmulatorError, match=message):
        run(stored(kernel, **wrong), NUMBERS.view(np.float32), 128)
