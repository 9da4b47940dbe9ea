"""Kernels of tensor maps around a body, and their runs."""

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined
from autotune.emulator import run


def tensor_program(
    body, maps, pointers, *, threads=64, blocks=1, cluster=1, shared_bytes=4096, headers=(), declared=""
):
    """A kernel of tensor maps and pointers by name, where `t` is the thread and `tile` shared memory of bytes.

    Beyond the body it has the headers of codegen/cuda, and what is `declared` before the entry.
    """
    arguments = (
        *(Argument(name, "TensorMap", tensor_map=one) for name, one in maps.items()),
        *(Argument(name, kind) for name, kind in pointers.items()),
    )
    footprint = Footprint(threads, shared_bytes, cluster=cluster, architecture="sm_90a")
    entry = footprint.entry(
        "kernel",
        f"const int t = threadIdx.x;\n  unsigned char* tile = tile_memory<unsigned char>();\n{body}",
        tensor_maps=True,
    )
    names = ("cluster", "tensor_copy", "tensor_store", "named_barrier", *headers)
    source = f"{inlined(*(f'cuda/{name}.cuh' for name in names))}\n{cuda_arguments(arguments)}\n{declared}\n{entry}"
    return Program(source, arguments, (footprint.launch("kernel", blocks),), arch_suffix=footprint.arch_suffix)


def execute(program, arrays, outputs, seed=0):
    """Run it on flat arrays aligned to 16 bytes; `outputs` are read and written."""
    tensors = [
        Tensor.flat(name, DType(array.dtype.name), array.size, Role.IN_OUT if name in outputs else Role.INPUT, 16)
        for name, array in arrays.items()
    ]
    run(program, tensors, arrays, {}, seed=seed)
