"""A GPU that a calibration measures: arrays in its memory, and programs that are launched on them and timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from statistics import median
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy.typing as npt

from autotune.codegen.calibration import programs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.program import Program
from autotune.devices.timing import measure
from autotune.search_spaces.machine.device_spec import DeviceSpec

# cuda.core is imported by the first who has a GPU.
if TYPE_CHECKING:
    from autotune.devices.cuda import CudaDevice
    from autotune.devices.launcher import LoadedProgram
    from autotune.devices.memory import GuardedBuffer

Scalars = Mapping[str, float]

_LARGEST, _SMALLEST, _SHARE = 4 << 30, 64 << 20, 4  # bytes of the first array, and of free memory one part of so many
_COPIED = 1 << 30  # bytes of the second array at most
_SUMS_BYTES = 16 << 20
_FLUSHED_CACHES = 4  # caches full of other data that empty a cache: replacement is not strict
_SAME_MEMORY = {"chain": "y", "end": "sums"}


class Instrument(Protocol):
    """What experiments need of a device.

    Its arrays are ``x``, whose word i is i, ``y``, ``chain`` (the same memory as ``y``), ``tiles``, ``sums``, and
    ``end`` (the same memory as ``sums``).

    Attributes:
        spec: the device's.
        bytes_x, bytes_y: of the arrays, powers of two.
    """

    spec: DeviceSpec
    bytes_x: int
    bytes_y: int

    def launch(self, program: Program, scalars: Scalars, x: str = "x") -> None:
        """Launch once, with another array as ``x`` perhaps."""

    def seconds(self, program: Program, scalars: Scalars, *, cold: bool = True, launches: int = 1) -> float:
        """The median time of a launch, on an L2 cache full of other data or as the same launch left it.

        Of several launches in a row it is the time of one.
        """

    def clear(self, name: str) -> None:
        """Set every bit of an array."""

    def upload(self, name: str, values: npt.NDArray[Any]) -> None:
        """Write an array."""

    def download(self, name: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """The first elements of an array."""


class GpuInstrument:
    """The `Instrument` that a GPU is; a context manager that frees the arrays.

    Raises:
        DeviceError: the context of the device was lost.
        CUDAError: a call of CUDA failed, for want of memory for example.
    """

    def __init__(self, device: CudaDevice) -> None:
        self.spec = device.spec
        self._device = device
        self._memory = ExitStack()
        self._loaded: dict[Program, LoadedProgram] = {}

    def __enter__(self) -> Self:
        from cuda.bindings import driver
        from cuda.core import EventOptions

        from autotune.base.cuda_core import handle_return
        from autotune.devices.memory import GuardedBuffer

        self._device.check_usable()
        handle = self._device.handle
        handle.set_current()
        self._stream = handle.create_stream()
        self._begin, self._end = (handle.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
        free, _ = handle_return(driver.cuMemGetInfo())
        self.bytes_x, self.bytes_y = array_bytes(free)
        sizes = {
            "x": self.bytes_x,
            "y": self.bytes_y,
            "tiles": 4 * programs.TILE_WORDS,
            "sums": _SUMS_BYTES,
            "flushed": _FLUSHED_CACHES * self.spec.l2_bytes,
        }
        self._arrays: dict[str, GuardedBuffer] = {}
        with self._memory:
            for name, size in sizes.items():
                self._arrays[name] = GuardedBuffer(handle, self._stream, size, 256)
                self._memory.callback(self._arrays[name].close)
            self._fill_x()
            self._memory = self._memory.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._memory.close()

    def launch(self, program: Program, scalars: Scalars, x: str = "x") -> None:
        """Launch once, with another array as ``x`` perhaps."""
        self._bound(program, scalars, {"x": x})()

    def seconds(self, program: Program, scalars: Scalars, *, cold: bool = True, launches: int = 1) -> float:
        """The median time of a launch; `devices.timing` says how it is taken."""
        launch = self._bound(program, scalars)
        before = self._flush() if cold else launch

        def sample() -> float:
            before()  # the host queues what is timed meanwhile
            self._stream.record(self._begin)
            for _ in range(launches):
                launch()
            self._stream.record(self._end)
            self._end.sync()
            milliseconds: float = self._end - self._begin
            return milliseconds * 1e-3 / launches

        return median(measure(sample, slowed_down=self._device.conditions.slowed_down).samples)

    def clear(self, name: str) -> None:
        """Queue: set every bit of an array."""
        self._arrays[name].fill(0xFF)

    def upload(self, name: str, values: npt.NDArray[Any]) -> None:
        """Write an array of the values' size and wait for it."""
        self._arrays[name].upload(values)

    def download(self, name: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Wait for what is queued; the first elements of an array."""
        values: npt.NDArray[Any] = self._arrays[_SAME_MEMORY.get(name, name)].download(dtype, count)
        return values

    def _bound(self, program: Program, scalars: Scalars, named: Mapping[str, str] = _SAME_MEMORY) -> Callable[[], None]:
        """What queues a launch."""
        from autotune.compiler import compile_kernel
        from autotune.devices.launcher import LoadedProgram

        if program not in self._loaded:
            self._loaded[program] = LoadedProgram(compile_kernel(program, self.spec.arch), program)
        named = {**_SAME_MEMORY, **named}
        pointers = {name: self._arrays[named.get(name, name)].pointer for name in (*self._arrays, *named)}
        queue, stream = self._loaded[program].bound(program.pack(pointers, scalars)), int(self._stream.handle)
        return lambda: queue(stream)

    def _flush(self) -> Callable[[], None]:
        """What fills the L2 cache with other data by reading it: dirty lines would have to be evicted."""
        vectors = self._arrays["flushed"].size // WIDEST_ACCESS
        program = programs.read(4 * self.spec.sm_count, 4)
        return self._bound(program, {"vectors": vectors, "shift": 0, "passes": 1}, {"x": "flushed"})

    def _fill_x(self) -> None:
        program = programs.write(4 * self.spec.sm_count, 4)
        self._bound(program, {"vectors": self.bytes_x // WIDEST_ACCESS}, {"y": "x"})()


def array_bytes(free: int) -> tuple[int, int]:
    """Bytes of both arrays on a device with so much free memory: powers of two, the second no larger than the first."""
    first = max(_SMALLEST, min(_LARGEST, 1 << (free // _SHARE).bit_length() - 1))
    return first, min(_COPIED, first)
