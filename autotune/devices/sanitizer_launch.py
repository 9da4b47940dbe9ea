"""One launch on the current GPU, in memory of exactly the declared sizes and alignments, for a sanitizer to watch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from cuda.bindings import driver

from autotune.base.cuda_core import handle_return
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.compiler import CompiledKernel

from .launcher import LoadedProgram
from .tensor_maps import encode

_DEFAULT_STREAM = 0


def run(
    program: Program,
    tensors: tuple[Tensor, ...],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    *,
    kernel: CompiledKernel,
) -> None:
    """Launch a compiled source once, on copies of the arrays, and copy the outputs back into them."""
    with ExitStack() as memory:
        pointers = {t.name: memory.enter_context(_allocated(t.bytes, t.alignment)) for t in tensors}
        pointers["workspace"] = memory.enter_context(_allocated(program.workspace_bytes, 0))
        if program.workspace_bytes:
            handle_return(driver.cuMemsetD8(pointers["workspace"], 0, program.workspace_bytes))
        filled = [tensor for tensor in tensors if tensor.size]
        for tensor in filled:
            handle_return(driver.cuMemcpyHtoD(pointers[tensor.name], arrays[tensor.name].ctypes.data, tensor.bytes))
        LoadedProgram(kernel, program).launch(_DEFAULT_STREAM, program.pack(pointers, scalars, encode))
        handle_return(driver.cuCtxSynchronize())
        for tensor in filled:
            if tensor.role is not Role.INPUT:
                handle_return(driver.cuMemcpyDtoH(arrays[tensor.name].ctypes.data, pointers[tensor.name], tensor.bytes))


@contextmanager
def _allocated(size: int, alignment: int) -> Iterator[int]:
    """Memory that ends with the allocation, at a multiple of an alignment and of no larger one (of 256 for 0)."""
    base = handle_return(driver.cuMemAlloc(max(1, alignment + size)))
    try:
        yield int(base) + alignment
    finally:
        driver.cuMemFree(base)  # refused where a kernel destroyed the context
