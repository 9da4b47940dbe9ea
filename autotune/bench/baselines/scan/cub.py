"""The baseline ``cub``: cub::DeviceScan of the CUDA toolkit, compiled by its nvcc."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from ....codegen.dtype import DType
from ....codegen.scan.scan.operation import Operation
from ....codegen.scan.scan.problem import ScanProblem
from ....devices.base import DeviceError
from ...baseline import Baseline, Launcher

if TYPE_CHECKING:
    from ....devices.cuda_session import CudaSession

_SOURCE = Path(__file__).with_name("cub_scan.hpp")
_OPERATIONS = {
    Operation.SUM: "cuda::std::plus<>",
    Operation.PRODUCT: "cuda::std::multiplies<>",
    Operation.MAX: "cuda::maximum<>",
    Operation.MIN: "cuda::minimum<>",
}
_HALVES = {DType.FLOAT16: "__half", DType.BFLOAT16: "__nv_bfloat16"}
_COMPILE_SECONDS = 300


def source(problem: ScanProblem) -> str:
    """The CUDA C++ of a driver for problems of one kind.

    Raises:
        ValueError: CUB has no such scan.
    """
    if problem.rows > 1 or problem.segmented or problem.init:
        raise ValueError("this driver of cub::DeviceScan scans one array, without rows, segments and initial value")
    element, result = (_HALVES.get(dtype, dtype.cuda) for dtype in (problem.dtype, problem.result_dtype))
    number = problem.number.cuda if problem.dtype.is_float else problem.result_dtype.cuda
    identity = str(problem.identity)
    if problem.identity in (inf, -inf):
        identity = f"{'-' if problem.identity < 0 else ''}cuda::std::numeric_limits<Number>::infinity()"
    elif not problem.dtype.is_float and problem.identity < 0:
        identity = f"{problem.identity + 1} - 1"  # the lowest integer is no literal
    lines = [
        "#include <cuda/functional>",
        "#include <cuda/std/functional>",
        "#include <cuda/std/limits>",
        "#include <cuda_bf16.h>",
        "#include <cuda_fp16.h>",
        f"using Element = {element};",
        f"using Number = {number};",
        f"using Result = {result};",
        f"using Operation = {_OPERATIONS[problem.op]};",
        f"#define IDENTITY {identity}",
        f"#define EXCLUSIVE {int(problem.exclusive)}",
        f"#define REVERSE {int(problem.reverse)}",
        f"#define CONVERTS {int(number != element)}",
    ]
    return "\n".join([*lines, _SOURCE.read_text(encoding="utf-8")])


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Of all drivers, until the process ends."""
    return tempfile.TemporaryDirectory(prefix="autotune-cub-")


@cache
def compiled(text: str, arch: str) -> Path:
    """The shared library of a driver, kept as long as the process lives.

    Raises:
        DeviceError: nvcc refuses it.
    """
    folder = Path(tempfile.mkdtemp(dir=_folder().name))
    (folder / "scan.cu").write_text(text, encoding="utf-8")
    options = ["-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC", "-cudart", "static"]
    command = [_nvcc() or "nvcc", *options, "scan.cu", "-o", "scan.so"]
    completed = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False
    )
    if completed.returncode != 0:
        said = (completed.stderr or completed.stdout).strip() or f"exit status {completed.returncode}"
        raise DeviceError(f"nvcc: {said.splitlines()[0]}")
    return folder / "scan.so"


@contextmanager
def _prepare(session: CudaSession) -> Iterator[Launcher]:
    from cuda.bindings import driver

    from ....cuda_core import handle_return

    problem = session.problem
    assert isinstance(problem, ScanProblem)
    library = ctypes.CDLL(str(compiled(source(problem), session.limits.arch)))
    size = ctypes.c_size_t()
    arguments = (
        ctypes.byref(size),
        ctypes.c_void_p(session.pointer("x")),
        ctypes.c_void_p(session.pointer("y")),
        ctypes.c_longlong(problem.columns),
        ctypes.c_void_p(session.stream),
    )
    _check(library.cub_scan(None, *arguments))
    scratch = int(handle_return(driver.cuMemAlloc(max(1, size.value))))
    try:
        yield lambda: _check(library.cub_scan(ctypes.c_void_p(scratch), *arguments))
    finally:
        driver.cuMemFree(scratch)


def _check(status: int) -> None:
    if status:
        raise DeviceError(f"cub::DeviceScan returned cudaError_t {status}")


def _nvcc() -> str | None:
    from cuda.pathfinder import find_nvidia_binary_utility

    found: str | None = find_nvidia_binary_utility("nvcc")
    return found


def _missing() -> str:
    return "" if _nvcc() else "the baseline cub needs nvcc and CCCL's headers: install the CUDA toolkit"


def _versions() -> Mapping[str, str]:
    completed = subprocess.run([_nvcc() or "nvcc", "--version"], capture_output=True, text=True, check=False)
    return {"nvcc": completed.stdout.strip().splitlines()[-1]}


CUB = Baseline(
    summary="cub::DeviceScan of the CUDA toolkit, over one array",
    computes=True,
    missing=_missing,
    versions=_versions,
    prepare=_prepare,
)
