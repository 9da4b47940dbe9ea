"""How the proof's operator is computed."""

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
FINISHED_BYTES = 4  # of the workspace of each launch
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
    """Two programs. What the first one leaves is a part of their workspace; the counts lie where the maxima were."""
    blocks, counted = tiles(problem, schedule), 4 * problem.columns
    largest = (Argument("maxima", "float*"), Argument("largest", "float*"))
    scaled = (
        Argument("offset", "const unsigned long long*"),
        *_outputs(problem),
        Argument("counts", "int*"),
        Argument("largest", "const float*"),
    )
    first = _launched(problem, schedule, FIRST, "find_largest", largest)
    second = _launched(problem, schedule, SECOND, "scale", scaled, Memset(0, counted, region="counts"))
    return first.then(second).in_workspace(largest=4, maxima=4 * blocks, counts=counted)


def _launched(
    problem: ProbeProblem,
    schedule: ProbeSchedule,
    name: str,
    function: str,
    members: tuple[Argument, ...],
    *before: Memset,
) -> Program:
    footprint = schedule.footprint(problem)
    arguments = (*_source_of_x(problem, schedule), *members, Argument("workspace", "int*"), *_rest(problem))
    entry = footprint.entry(name, f"{function}(arguments);", tensor_maps=schedule.tensor_copy)
    source = _source(arguments, schedule, problem.biased, (function,), entry)
    steps = (*before, footprint.launch(name, tiles(problem, schedule)))
    return Program(source, arguments, steps, FINISHED_BYTES, arch_suffix=footprint.arch_suffix)


def emit_naive(problem: ProbeProblem) -> Program:
    """The truth on a device, with y in double."""
    plain = ProbeSchedule()
    offset = Argument("offset", "const unsigned long long*")
    arguments = (*_source_of_x(problem, plain), offset, *_outputs(problem, "double"), *_rest(problem))
    arguments += Argument("sampled_rows", "const long long*"), Argument("sampled_count", "long long")
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


def _outputs(problem: ProbeProblem, y: str = "bfloat16") -> tuple[Argument, ...]:
    pointers = (Argument("y", f"{y}*"), Argument("kept", "int*"), Argument("kept_rows", "int*"))
    return (*pointers, Argument("ldy", "int", problem.ldy))


def _rest(problem: ProbeProblem) -> tuple[Argument, ...]:
    return (
        *([Argument("bias", "const float*")] if problem.biased else []),
        *(Argument(name, "int", getattr(problem, name)) for name in ("rows", "columns")),
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
