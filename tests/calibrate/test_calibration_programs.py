"""The kernels of a calibration, compiled: nothing that is to be measured was left out."""

import re

import pytest

from autotune.codegen.calibration import programs
from autotune.compiler import compile_kernel
from autotune.contract.nvrtc import compiled_ptx

PROGRAMS = {
    "read": programs.read(8, 8),
    "copy": programs.copy(8, 8),
    "write": programs.write(8, 8),
    "gather": programs.gather(8),
    "link": programs.link(8),
    "shared": programs.read_shared(2),
    "multiply_add": programs.multiply_add(8),
    "multiply_tiles": programs.multiply_tiles(8),
    "nothing": programs.nothing(),
}
# Of a loop's body, in PTX, where a loop that is not unrolled has each instruction once.
COUNTS = {
    "read": {r"ld\.global\.cg\.v4": 8},
    "copy": {r"ld\.global\.cg\.v4": 8, r"st\.global\.v4": 8},
    "write": {r"st\.global\.v4": 8},
    "gather": {r"ld\.global\.nc": 8},
    "shared": {r"ld\.shared\.v4": 8},
    "multiply_add": {r"fma\.rn\.f32": programs.FMA_CHAINS * programs.FMA_UNROLL},
    "multiply_tiles": {r"mma\.sync": programs.TILE_CHAINS * programs.TILE_UNROLL},
}


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_they_compile_without_spills(name, arch):
    if (name, arch) != ("multiply_tiles", "sm_75"):
        assert compile_kernel(PROGRAMS[name], arch).resources.spill_store_bytes == 0


@pytest.mark.parametrize("name", COUNTS)
def test_every_access_and_operation_is_there(name):
    ptx = compiled_ptx(PROGRAMS[name].source, "sm_90")
    assert {pattern: len(re.findall(pattern, ptx)) for pattern in COUNTS[name]} == COUNTS[name]


def registers(program):
    return compile_kernel(program, "sm_90").resources.registers


def test_as_many_blocks_are_resident_as_the_experiments_count_on():
    """65536 registers of an SM, for threads that are to be there at once."""
    assert 2048 * registers(PROGRAMS["multiply_add"]) <= 65536
    assert 4 * programs.THREADS * registers(PROGRAMS["multiply_tiles"]) <= 65536
    assert 4 * programs.THREADS * registers(PROGRAMS["read"]) <= 65536
    assert programs.GATHER_BLOCKS * programs.THREADS * registers(PROGRAMS["gather"]) <= 65536
    assert 1024 * registers(programs.read(1, 8, 1024)) <= 65536
