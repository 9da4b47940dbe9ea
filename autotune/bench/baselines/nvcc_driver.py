"""Drivers of C++ libraries, compiled by the toolkit's nvcc for the types and the operation of a problem."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import distribution
from math import inf
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from autotune.base.version import version_of
from autotune.bench.baseline import Baseline, BaselineRun
from autotune.codegen.model.dtype import DType
from autotune.devices.base import DeviceError

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession

_one_folder = Lock()  # of threads that compile at once, each would make one, and all but the last would be removed
_HALVES = {DType.FLOAT16: "__half", DType.BFLOAT16: "__nv_bfloat16"}
_COMPILE_SECONDS = 300
_HEADERS = ("cuda/functional", "cuda/std/functional", "cuda/std/limits", "cuda_bf16.h", "cuda_fp16.h")


@dataclass(frozen=True)
class Headers:
    """A library's headers, which take precedence over the toolkit's.

    Attributes:
        distribution: the Python distribution that has them; empty for the toolkit's own.
        folders: of includes, in the distribution.
        libraries: of NVIDIA, whose headers they include, such as ``curand``.
        flags: by which the library's own Python has nvcc compile them.
    """

    distribution: str = ""
    folders: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def missing(self, baseline: str) -> str:
        """What this machine lacks for a baseline, in one line that names the remedy; empty if nothing."""
        if not _nvcc():
            return f"the baseline {baseline} needs nvcc and CCCL's headers: install the CUDA toolkit"
        if self.distribution and version_of(self.distribution) is None:
            return f"the baseline {baseline} needs headers: pip install --no-deps {self.distribution}"
        for library in self.libraries:
            if _library_folder(library) is None:
                return f"the baseline {baseline} needs {library}'s headers: pip install nvidia-{library}"
        return ""

    def options(self) -> list[str]:
        """nvcc's options that find them, and its flags."""
        own = [str(distribution(self.distribution).locate_file(folder)) for folder in self.folders]
        return [*(f"-I{folder}" for folder in (*own, *map(_library_folder, self.libraries))), *self.flags]

    def versions(self) -> Mapping[str, str]:
        """Those of nvcc and of the distribution."""
        completed = subprocess.run([_nvcc() or "nvcc", "--version"], capture_output=True, text=True, check=False)
        nvcc = {"nvcc": completed.stdout.strip().splitlines()[-1]}
        return nvcc | {self.distribution: version_of(self.distribution) or ""} if self.distribution else nvcc


TOOLKIT = Headers()
CCCL = Headers("cuda-cccl", ("cuda/cccl/headers/include",))
FLASHINFER = Headers(
    "flashinfer-python",
    (
        "flashinfer/data/include",
        *(f"flashinfer/data/cccl/{folder}" for folder in ("cub", "libcudacxx/include", "thrust")),
    ),
    ("curand",),
    ("--expt-relaxed-constexpr", "-use_fast_math"),
)


def driver_baseline(
    name: str,
    summary: str,
    source: Callable[[Any], str],
    sizes: Callable[[Any], Sequence[int]],
    *,
    headers: Headers = TOOLKIT,
    verified: bool = True,
    replayed: bool = True,
) -> Baseline:
    """The baseline of a driver, which defines ``driver_call(scratch, bytes, pointers…, sizes…, stream)``.

    It returns a ``cudaError_t``. With `scratch` null, it writes how many bytes are needed there; they are zeros before
    the first launch. Pointers are those of the problem's tensors.

    Args:
        name: of the baseline.
        summary: one line for people.
        source: the CUDA C++ for a problem; a ``ValueError`` says what the library has not.
        sizes: numbers of 64 bits.
        headers: of the library.
        verified: whether its outputs are compared with the problem's.
        replayed: whether it is sampled as a CUDA graph, which a library cannot be that waits for the device.
    """

    @contextmanager
    def prepare(session: CudaSession) -> Iterator[BaselineRun]:
        from cuda.bindings import driver

        from autotune.base.cuda_core import handle_return

        problem, size = session.problem, ctypes.c_size_t()
        library = ctypes.CDLL(str(compiled(source(problem), session.spec.arch, headers)))
        arguments = (
            ctypes.byref(size),
            *(ctypes.c_void_p(session.pointer(tensor.name)) for tensor in problem.tensors),
            *map(ctypes.c_longlong, sizes(problem)),
            ctypes.c_void_p(session.stream),
        )
        _check(library.driver_call(None, *arguments))
        scratch = int(handle_return(driver.cuMemAlloc(max(1, size.value))))
        try:
            handle_return(driver.cuMemsetD8(scratch, 0, max(1, size.value)))
            yield BaselineRun(lambda: _check(library.driver_call(ctypes.c_void_p(scratch), *arguments)))
        finally:
            driver.cuMemFree(scratch)

    return Baseline(
        summary=summary,
        verified=verified,
        replayed=replayed,
        missing=partial(headers.missing, name),
        versions=headers.versions,
        prepare=prepare,
    )


def cuda_name(dtype: DType) -> str:
    """What the toolkit's headers call a type."""
    return _HALVES.get(dtype, dtype.cuda)


def identity(number: float, is_float: bool) -> str:
    """A number that an operation begins with, as C++; the lowest integer is no literal."""
    if number in (inf, -inf):
        return f"{'-' if number < 0 else ''}cuda::std::numeric_limits<Number>::infinity()"
    return f"{number + 1} - 1" if number < 0 and not is_float else str(number)


def driver_source(path: Path, types: Mapping[str, str], macros: Mapping[str, object]) -> str:
    """A driver's file behind the types and the macros that it reads."""
    lines = [
        *(f"#include <{header}>" for header in _HEADERS),
        *(f"using {name} = {value};" for name, value in types.items()),
        *(f"#define {name} {value}" for name, value in macros.items()),
    ]
    return "\n".join([*lines, path.read_text(encoding="utf-8")])


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Of all drivers, until the process ends."""
    return tempfile.TemporaryDirectory(prefix="autotune-drivers-")


@cache
def compiled(text: str, arch: str, headers: Headers = TOOLKIT) -> Path:
    """The shared library of a driver, kept as long as the process lives.

    Raises:
        DeviceError: nvcc refuses it.
    """
    with _one_folder:
        folder = Path(tempfile.mkdtemp(dir=_folder().name))
    (folder / "driver.cu").write_text(text, encoding="utf-8")
    options = [
        "-O3",
        f"-arch={arch}",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-cudart",
        "static",
        f"-I{Path(__file__).parent}",
        *headers.options(),
    ]
    command = [_nvcc() or "nvcc", *options, "driver.cu", "-o", "driver.so"]
    try:
        completed = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(f"nvcc: takes more than {_COMPILE_SECONDS} s") from None
    if completed.returncode != 0:
        said = (completed.stderr or completed.stdout).strip() or f"exit status {completed.returncode}"
        raise DeviceError(f"nvcc: {said.splitlines()[0]}")
    return folder / "driver.so"


def _check(status: int) -> None:
    if status:
        raise DeviceError(f"the driver returned cudaError_t {status}")


def _nvcc() -> str | None:
    from cuda.pathfinder import find_nvidia_binary_utility

    found: str | None = find_nvidia_binary_utility("nvcc")
    return found


def _library_folder(library: str) -> str | None:
    from cuda.pathfinder import find_nvidia_header_directory

    found: str | None = find_nvidia_header_directory(library)
    return found
