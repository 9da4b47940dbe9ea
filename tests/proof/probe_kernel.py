"""How the proof's operator is computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from probe_problem import ProbeProblem

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Memset
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import comment
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.schedule_struct import schedule_struct

THREADS = 128
TILE_COLUMNS = 64
HEADER_BYTES = 8  # of the workspace
FIRST, SECOND = "probe_maximum", "probe_scale"
_FILE = str(Path(__file__).with_name("probe.cuh"))


@dataclass(frozen=True)
class ProbeSchedule(Schedule):
    """A block has a tile of x in both launches.

    Attributes:
        tile_rows: rows of a tile, of 64 columns.
        tensor_copy: whether a tensor copy brings the tile, swizzled, in a kernel for sm_90a; else threads load it.
    """

    tile_rows: int = tunable(16, values=(8, 16, 32), allowed=(8, 16, 32))
    tensor_copy: bool = tunable(False, values=(False, True))

    def footprint(self, problem: ProbeProblem) -> Footprint:
        """A tile and its barrier, and a float for each warp."""
        tile = self.tile_rows * TILE_COLUMNS * DType.BFLOAT16.bytes + 8 if self.tensor_copy else 0
        return Footprint(THREADS, tile + 4 * THREADS // 32, architecture="sm_90a" if self.tensor_copy else "")


def tiles(problem: ProbeProblem, schedule: ProbeSchedule) -> int:
    """Tiles of x, one block each."""
    return ceil_div(problem.rows, schedule.tile_rows) * ceil_div(problem.columns, TILE_COLUMNS)


def emit(problem: ProbeProblem, schedule: ProbeSchedule) -> Program:
    """Two launches; between them the region that the first one used is cleared for the second."""
    footprint, blocks = schedule.footprint(problem), tiles(problem, schedule)
    region = 4 * max(blocks, problem.columns)
    arguments = (*_source_of_x(problem, schedule), *_others(problem))
    entries = [
        footprint.entry(name, body, tensor_maps=schedule.tensor_copy)
        for name, body in ((FIRST, "find_largest(arguments);"), (SECOND, "scale(arguments);"))
    ]
    source = _source(arguments, schedule, problem.biased, ("find_largest", "scale"), "\n".join(entries))
    steps = (
        footprint.launch(FIRST, blocks),
        Memset(HEADER_BYTES, region),
        footprint.launch(SECOND, blocks),
    )
    return Program(source, arguments, steps, HEADER_BYTES + region, arch_suffix=footprint.arch_suffix)


def emit_naive(problem: ProbeProblem) -> Program:
    """The truth on a device, with y in double."""
    plain = ProbeSchedule()
    arguments = (*_source_of_x(problem, plain), *_others(problem, y="double"))
    entry = Footprint(THREADS).entry("probe", "compute_column(arguments);")
    source = _source(arguments, plain, problem.biased, ("compute_column",), entry)
    return Program(source, arguments, (Footprint(THREADS).launch("probe", ceil_div(problem.columns, THREADS)),))


def emit_checker(problem: ProbeProblem) -> Program:
    """A thread for each column marks the rows that it has seen in the workspace."""
    arguments = (
        Argument("offset", "const unsigned long long*"),
        Argument("kept", "const int*"),
        Argument("kept_rows", "const int*"),
        Argument("kept_rows_report", "Report*"),
        Argument("workspace", "unsigned char*"),
        *(Argument(name, "int", getattr(problem, name)) for name in ("rows", "columns")),
    )
    entry = Footprint(THREADS).entry("probe_check", "check_column(arguments);")
    source = "\n\n".join((cuda_arguments(arguments), _used(ProbeSchedule(), problem.biased, ("check_column",)), entry))
    marks = problem.rows * problem.columns
    steps = Memset(0, marks), Footprint(THREADS).launch("probe_check", ceil_div(problem.columns, THREADS))
    return Program(source, arguments, steps, marks)


def _source_of_x(problem: ProbeProblem, schedule: ProbeSchedule) -> tuple[Argument, ...]:
    """A tensor map, or the address and how far rows are apart."""
    if not schedule.tensor_copy:
        return Argument("x", "const bfloat16*"), Argument("ldx", "int", problem.ldx)
    shape, box = (problem.rows, problem.columns), (schedule.tile_rows, TILE_COLUMNS)
    described = TensorMap("x", DType.BFLOAT16, shape, (problem.ldx, 1), box, Swizzle.B128)
    return (Argument("x_map", "TensorMap", tensor_map=described),)


def _others(problem: ProbeProblem, y: str = "bfloat16") -> tuple[Argument, ...]:
    return (
        Argument("offset", "const unsigned long long*"),
        *([Argument("bias", "const float*")] if problem.biased else []),
        Argument("y", f"{y}*"),
        Argument("kept", "int*"),
        Argument("kept_rows", "int*"),
        Argument("workspace", "unsigned char*"),
        *(Argument(name, "int", getattr(problem, name)) for name in ("rows", "columns", "ldy")),
        Argument("tiles_across", "int", ceil_div(problem.columns, TILE_COLUMNS)),
    )


def _source(
    arguments: tuple[Argument, ...], schedule: ProbeSchedule, biased: bool, called: tuple[str, ...], entries: str
) -> str:
    body = _used(schedule, biased, called)
    parts = (comment(f"probe: {schedule}"), cuda_arguments(arguments), schedule_struct(schedule, body), body, entries)
    return "\n\n".join(parts)


def _used(schedule: ProbeSchedule, biased: bool, called: tuple[str, ...]) -> str:
    return used_source(_FILE, called, schedule.constants | {"biased": biased})
