"""A GPU as an instrument; the driver is a stand-in."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from cuda.bindings import driver
from host_driver import host_context

from autotune import compiler
from autotune.base.cuda_core import CUDAError
from autotune.calibrate import instrument as module
from autotune.calibrate.instrument import GpuInstrument, array_bytes
from autotune.calibrate.run import calibrate
from autotune.codegen.calibration import programs
from autotune.devices import launcher
from autotune.devices.base import DeviceError
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")


class Loaded:
    """Stands for `LoadedProgram`: what is launched is written down."""

    log: ClassVar[list] = []

    def __init__(self, compiled, program):
        self._name = program.name

    def bound(self, packed):
        return lambda stream: self.log.append((self._name, packed))


@pytest.fixture
def context(monkeypatch):
    monkeypatch.setattr(module, "_SMALLEST", 1 << 12)
    monkeypatch.setattr(module, "_SUMS_BYTES", 1 << 10)
    monkeypatch.setattr(driver, "cuMemGetInfo", lambda: (driver.CUresult.CUDA_SUCCESS, 1 << 14, 1 << 20))
    monkeypatch.setattr(launcher, "LoadedProgram", Loaded)
    monkeypatch.setattr(compiler, "compile_kernel", lambda program, arch: None)
    monkeypatch.setattr(Loaded, "log", [])
    context = host_context(monkeypatch, SPEC, None)
    monkeypatch.setattr(context, "spec", replace(SPEC, l2_bytes=1 << 10))
    return context


def names():
    return [name for name, _ in Loaded.log]


@pytest.mark.parametrize(
    ("free", "expected"),
    [(140 << 30, (4 << 30, 1 << 30)), (16 << 30, (4 << 30, 1 << 30)), ((16 << 30) - 1, (2 << 30, 1 << 30)),
     (3 << 30, (512 << 20, 512 << 20)), (100 << 20, (64 << 20, 64 << 20))],
)  # fmt: skip
def test_arrays_take_a_quarter_of_what_is_free_at_most(free, expected):
    assert array_bytes(free) == expected


def test_words_count_from_the_start(context):
    with GpuInstrument(context) as instrument:
        ((name, packed),) = Loaded.log
        assert (name, packed.y, packed.vectors) == ("write_vectors", instrument._arrays["x"].pointer, (1 << 12) // 16)


def test_a_cold_launch_follows_reads_of_other_data_and_a_warm_one_itself(context):
    with GpuInstrument(context) as instrument:
        program, scalars = programs.copy(8, 2), {"vectors": 4}
        Loaded.log.clear()
        assert instrument.seconds(program, scalars) == 1e-3
        assert set(names()[::2]) == {"read_vectors"}
        assert set(names()[1::2]) == {"copy_vectors"}
        flush = Loaded.log[0][1]
        assert (flush.x, flush.vectors) == (instrument._arrays["flushed"].pointer, 4 * (1 << 10) // 16)
        Loaded.log.clear()
        assert instrument.seconds(program, scalars, cold=False, launches=10) == 1e-4
        assert len(names()) % 11 == 0
        assert set(names()) == {"copy_vectors"}


def test_arrays_go_by_their_names(context):
    with GpuInstrument(context) as instrument:
        at = {name: array.pointer for name, array in instrument._arrays.items()}
        instrument.launch(programs.read(1, 2), {"vectors": 1, "shift": 0, "passes": 1}, x="y")
        packed = Loaded.log[-1][1]
        assert (packed.x, packed.sums) == (at["y"], at["sums"])
        instrument.launch(programs.follow(), {"nodes": 1, "pitch": 1, "steps": 1})
        packed = Loaded.log[-1][1]
        assert (packed.chain, packed.end) == (at["y"], at["sums"])
        instrument.upload("tiles", np.arange(programs.TILE_WORDS, dtype=np.uint32))
        assert instrument.download("tiles", np.uint32, 3).tolist() == [0, 1, 2]
        instrument.clear("sums")
        assert instrument.download("end", np.int64, 1).tolist() == [-1]


def test_an_error_of_cuda_is_one_line_that_names_the_experiment(context, monkeypatch):
    def lost(instrument):
        raise CUDAError("CUDA_ERROR_ILLEGAL_ADDRESS: lost. Reason: …")

    monkeypatch.setattr("autotune.calibrate.run.EXPERIMENTS", {"stride": lost})
    with pytest.raises(DeviceError, match=r"^calibration, stride: CUDA_ERROR_ILLEGAL_ADDRESS: lost$"):
        calibrate(context)
