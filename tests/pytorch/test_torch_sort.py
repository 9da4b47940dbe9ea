"""What radix_sort is compared with in PyTorch."""

import numpy as np
import pytest

from autotune.bench.torch_tensors import torch_tensor
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Role
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values
from autotune.search_spaces.sorting.radix_sort.baselines import BASELINES
from autotune.verification import compare, launch_arrays

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "problem",
    [
        RadixSortProblem(401, 1, DType.INT32),
        RadixSortProblem(401, 2, DType.INT64, Values.INDEX32, descending=True),
        RadixSortProblem(401, 2, DType.FLOAT32, Values.INDEX64),
        RadixSortProblem(401, 1, DType.UINT8, Values.BYTES4),
    ],
    ids=lambda problem: problem.key,
)
def test_the_baseline_computes_the_reference(problem):
    arrays = launch_arrays(problem, seed=0)
    if problem.dtype.is_float:  # PyTorch's sort on the CPU leaves open which NaN comes first
        arrays["keys"] = np.nan_to_num(arrays["keys"])
    before = {name: array.copy() for name, array in arrays.items()}
    flat = {name: torch.from_numpy(array.view(np.uint8)) for name, array in arrays.items()}
    tensors = {tensor.name: torch_tensor(torch, tensor, flat[tensor.name]) for tensor in problem.tensors}
    BASELINES["torch"].bind(torch, problem, tensors)()
    expected = problem.reference(before, problem.scalars)
    for tensor in problem.tensors:
        if tensor.role is not Role.INPUT:
            assert compare(tensor, arrays[tensor.name], expected[tensor.name], before[tensor.name], None) == 0.0


@pytest.mark.parametrize("problem", [RadixSortProblem(9), RadixSortProblem(9, 1, DType.INT8, Values.BYTES16)])
def test_the_baseline_refuses_what_pytorch_lacks(problem):
    with pytest.raises(ValueError, match=r"torch\.sort has neither uint16, uint32, uint64 nor bits of keys"):
        BASELINES["torch"].bind(torch, problem, {})
