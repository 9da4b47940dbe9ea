"""A small kernel around a body, and its run: `kernel` and `run` of conftest.py."""

import numpy as np

from autotune import emulator
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import inlined

ARGUMENTS = (
    Argument("x", "const float*"),
    Argument("y", "float*"),
    Argument("workspace", "void*"),
    Argument("n", "int"),
)
WRAPPERS = ("shared_memory", "async_copy", "cluster")


def build(body, *, threads=64, blocks=1, cluster=1, shared_bytes=256, workspace_bytes=0, headers=()):
    """A kernel of `x`, `y`, `workspace` and `n`, where `t` is the thread and `s` shared memory."""
    text = f"""{inlined(*(f"cuda/{name}.cuh" for name in (*WRAPPERS, *headers)))}
{cuda_arguments(ARGUMENTS)}
extern "C" __global__ void __launch_bounds__({threads}) __cluster_dims__({cluster}, 1, 1)
    kernel(const Arguments arguments) {{
  const float* x = arguments.x;
  float* y = arguments.y;
  const int n = arguments.n;
  const int t = threadIdx.x;
  float* s = dynamic_shared<float>();
  {body}
}}
"""
    launch = Launch("kernel", (blocks, 1, 1), (threads, 1, 1), shared_bytes, (cluster, 1, 1))
    return Program(text, ARGUMENTS, (launch,), workspace_bytes)


def execute(source, x, size, *, alignment=4, **options):
    """`y` of `size` words, poisoned before."""
    y = np.full(size, -1, np.int32).view(np.float32)
    tensors = [
        Tensor.flat("x", DType.FLOAT32, x.size, Role.INPUT, alignment),
        Tensor.flat("y", DType.FLOAT32, size, Role.OUTPUT, alignment),
    ]
    emulator.run(source, tensors, {"x": x, "y": y}, {"n": x.size}, **options)
    return y
