"""The proof's operator, which uses what programs, calls and tensors can state and no other operator needs yet."""

from collections.abc import Mapping
from typing import Any

from probe_kernel import ProbeSchedule, emit, emit_checker, emit_naive, tiles
from probe_problem import ProbeProblem

from autotune.codegen.model.program import Program
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload


def probe(x: Any, offset: Any, bias: Any = None, *, out: Any = None, stream: Any = None) -> Any:
    """x + bias, divided by its largest absolute value, with about half of the elements dropped.

    Args:
        x: of shape (rows, columns), of bfloat16.
        offset: of shape (1,), of uint64: chooses the elements that are kept.
        bias: of shape (columns,), of float32.
        out: y, of the shape and dtype of x, which may be x; how many elements each column keeps, int32; and of which
            rows they are, of shape (columns, rows) and int32, in any order, of which what is behind the count stays.
    """


def _types(x: Layout, offset: Layout, bias: Layout | None) -> Mapping[str, ArrayType]:
    if len(x.shape) != 2 or x.dtype != "bfloat16":
        raise TypeError(f"x has shape {x.shape} and dtype {x.dtype}: expected a matrix of bfloat16")
    if (offset.shape, offset.dtype) != ((1,), "uint64"):
        raise TypeError(f"offset has shape {offset.shape} and dtype {offset.dtype}: expected (1,) and uint64")
    if bias and (bias.shape, bias.dtype) != (x.shape[1:], "float32"):
        raise TypeError(f"bias has shape {bias.shape} and dtype {bias.dtype}: expected {x.shape[1:]} and float32")
    return {
        "y": ArrayType(x.shape, x.dtype),
        "kept": ArrayType(x.shape[1:], "int32"),
        "kept_rows": ArrayType(x.shape[::-1], "int32"),
    }


def _bind(x: Layout, offset: Layout, bias: Layout | None, y: Layout, kept: Layout, kept_rows: Layout) -> Binding:
    rows, columns = x.shape
    problem = ProbeProblem(rows, columns, bias is not None, x.strides[0], y.strides[0])
    return Binding(problem)


CALL = Call(
    declaration=probe,
    inputs=("x", "offset", "bias"),
    outputs=("y", "kept", "kept_rows"),
    types=_types,
    bind=_bind,
    optional=("bias",),
    in_place=(("y", "x"),),
)


def _default(problem: ProbeProblem, spec: DeviceSpec) -> ProbeSchedule:
    return ProbeSchedule(tensor_copy=spec.arch == "sm_90")


def _candidates(problem: ProbeProblem, spec: DeviceSpec) -> list[ProbeSchedule]:
    return [ProbeSchedule(32, copied) for copied in (True, False)]


def _checks(problem: ProbeProblem, schedule: ProbeSchedule) -> list[tuple[ProbeProblem, ProbeSchedule]]:
    return [(ProbeProblem(40, 200, problem.biased), schedule)]


def _workload(problem: ProbeProblem, schedule: ProbeSchedule, spec: DeviceSpec) -> tuple[Workload, ...]:
    """Each launch reads x; the second one writes y, too."""
    footprint, blocks = schedule.footprint(problem), tiles(problem, schedule)
    loaded = 128.0 * schedule.tile_rows
    return (
        Workload(blocks, footprint, memory_bytes=blocks * loaded, bytes_loaded=loaded),
        Workload(blocks, footprint, memory_bytes=2 * blocks * loaded, bytes_loaded=loaded, bytes_stored=loaded),
    )


def _copied(problem: ProbeProblem) -> Program:
    return emit(problem, ProbeSchedule(tensor_copy=True))


OPERATOR = Operator(
    name="probe",
    summary="y = dropout((x + bias) / max |x + bias|), and what is kept",
    problem_type=ProbeProblem,
    kernels=(Kernel(ProbeSchedule, emit, candidates=_candidates, checks=_checks, workload=_workload),),
    reference=emit_naive,
    checker=emit_checker,
    default=_default,
    presets={"copied": _copied},
    call=CALL,
)
