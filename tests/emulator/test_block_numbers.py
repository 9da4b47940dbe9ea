"""Numbers of blocks that wrap in 32 bits."""

import re
from contextlib import nullcontext

import numpy as np
import pytest

from autotune import emulator
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor

_BLOCKS = 2**30


@pytest.mark.parametrize(
    ("index", "wrong"),
    [
        ("blockIdx.x * 8 + threadIdx.x", "1073741823 * 8 wraps in 32 bits"),
        ("3 * gridDim.x + blockIdx.x + 1u", "4294967295 + 1 wraps in 32 bits"),
        ("gridDim.x * blockIdx.x", "wraps in 32 bits"),
        ("blockIdx.x * 8ll % 7", ""),
        ("static_cast<long long>(gridDim.x) * 8 % 7", ""),
        ("(blockIdx.x + 1) / gridDim.x + (gridDim.x > 5 ? blockIdx.x : 5u) % 3 + blockIdx.x * 0.5f * 0", ""),
    ],
)
def test_products_and_sums(index, wrong):
    body = f"atomicAdd(arguments.y + static_cast<long long>({index}) % 64, 1);"
    declared = "struct Arguments {\n  int* y;\n};\n"
    source = f'{declared}extern "C" __global__ void f(const Arguments arguments) {{ {body} }}\n'
    program = Program(source, (Argument("y", "int*"),), (Launch("f", (_BLOCKS, 1, 1), (1, 1, 1)),))
    y = Tensor.flat("y", DType.INT32, 64, Role.IN_OUT, 4)
    with pytest.raises(emulator.EmulatorError, match=re.escape(wrong)) if wrong else nullcontext():
        emulator.run(program, [y], {"y": np.zeros(64, np.int32)}, {}, ends=1, checks_block_numbers=True)
