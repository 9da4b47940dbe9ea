"""What the headers of gemm's kernels name of a product, as those of other operators do that are products, too."""

from __future__ import annotations

from autotune.codegen.model.dtype import DType
from autotune.codegen.source.headers import Constant

from .fields import Scales
from .numbers import DTYPES
from .problem import GemmProblem
from .schedule import GemmSchedule


def element_types(problem: GemmProblem) -> list[str]:
    """Lines that declare what the elements of arrays are."""
    sums = DType.INT32 if problem.dtype is DType.INT8 else DType.FLOAT32
    types = {"Element": problem.dtype, "ElementB": problem.dtype_b, "Sum": sums, "Result": problem.result}
    return [f"using {name} = {dtype.cuda};" for name, dtype in types.items()]


def conditions(problem: GemmProblem) -> dict[str, Constant]:
    """What conditions in headers name beside facts and the schedule."""
    known = (*tuple(Scales)[1:], *DTYPES, DType.INT32)
    names: dict[str, Constant] = {str(member): str(member) for member in known}
    return (
        names
        | problem.epilogue.conditions
        | {
            "phased": False,  # whether rows of D, and steps along k, are another operator's
            "narrow_boxes": False,  # whether columns of B lie in several boxes of less than 128 bytes
            "wide_rows": False,  # whether rows of D from registers are stored 16 bytes at a time
            "element": str(problem.dtype),
            "element_bytes": problem.dtype.bytes,
            "result": str(problem.result),
            "result_bytes": problem.result.bytes,
            "scales": 0 if problem.scales is Scales.NONE else str(problem.scales),
            "scaled_columns": problem.scales is Scales.ROW,
        }
    )


def facts_of(problem: GemmProblem) -> dict[str, Constant]:
    """What a source is specialised for in any case."""
    return {
        "transpose_a": problem.transpose_a,
        "transpose_b": problem.transpose_b,
        "batched": problem.batch > 1,
        "beta_nonzero": problem.residual,
        **{f"shared_{operand}": problem.layout_of(operand)[1] == 0 for operand in "ab"},  # by the whole batch
    }


def edges_of(problem: GemmProblem, schedule: GemmSchedule) -> dict[str, Constant]:
    """Along which dimensions the last tile exceeds the matrix."""
    whole = {
        "m": schedule.block_m * schedule.cluster_m,
        "n": schedule.block_n * schedule.cluster_n,
        "k": schedule.block_k,
    }
    return {f"edge_{name}": getattr(problem, name) % size != 0 for name, size in whole.items()}
