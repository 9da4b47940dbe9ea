"""The proof's operator, which uses what programs, calls and tensors can state and no other operator needs yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size, tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Memset
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.samples import sampled_rows
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.model.tensor import Checked, Extent, Role, Tensor, Within
from autotune.codegen.model.tensor_map import Swizzle, TensorMap
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.source.arguments import cuda_arguments
from autotune.codegen.source.emission import comment
from autotune.codegen.source.headers import used_source
from autotune.codegen.source.schedule_struct import schedule_struct
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.workload import Workload

MOST_ROWS = 12  # of y that are judged, beside those at the edges of tiles
COLUMN_UNIT = 8  # elements of the 16 bytes that rows of tensor copies are multiples of


@dataclass(frozen=True)
class ProbeProblem(Problem):
    """y = (x + bias) / max |x + bias| where an element is kept and 0 elsewhere, and how many are kept in each column.

    Whether element (i, j) is kept follows from a hash of ``offset + i·columns + j``, with an offset in device memory.
    The rows that a column keeps are listed in any order.

    Attributes:
        rows, columns: of x and y, of bfloat16.
        biased: whether there is a bias, one float for each column.
        ldx, ldy: elements from a row to the next, multiples of 8; 0 stands for the fewest.
    """

    rows: int = size(256, least=1)
    columns: int = size(512, least=1)
    biased: bool = kind(False, codes=("", "bias"))
    ldx: int = layout()
    ldy: int = layout()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ldx", "ldy"):
            leading = getattr(self, name) or self.usual(name)
            if leading < self.columns or leading % COLUMN_UNIT:
                raise ValueError(f"{name}={leading}: expected a multiple of {COLUMN_UNIT}, {self.columns} or more")
            object.__setattr__(self, name, leading)

    def usual(self, name: str) -> int:
        """The fewest elements of a row."""
        return -(-self.columns // COLUMN_UNIT) * COLUMN_UNIT

    @property
    def work(self) -> Work:
        """x is read once, y, the counts and half of the rows are written once.

        An element takes an addition, a maximum and a division.
        """
        elements = self.rows * self.columns
        return Work(6 * elements + 4 * self.columns * (1 + self.biased) + 8, {Unit.FP32: 3 * elements})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """y may be x if it lies as x does."""
        shape = (self.rows, self.columns)
        judged = Within.rounded(DType.BFLOAT16, relative=2.0**-22)
        in_place = "x" if self.ldx == self.ldy else ""
        bias = [Tensor.flat("bias", DType.FLOAT32, self.columns, Role.INPUT, 4)] if self.biased else []
        return (
            Tensor("x", DType.BFLOAT16, shape, (self.ldx, 1), Role.INPUT, 16),
            Tensor.flat("offset", DType.UINT64, 1, Role.INPUT, 8),
            *bias,
            Tensor("y", DType.BFLOAT16, shape, (self.ldy, 1), Role.OUTPUT, 16, judged, in_place, row_axes=1),
            Tensor.flat("kept", DType.INT32, self.columns, Role.OUTPUT, 4),
            Tensor(
                "kept_rows",
                DType.INT32,
                (self.columns, self.rows),
                (self.rows, 1),
                Role.OUTPUT,
                4,
                Checked("the rows that the column keeps, each once"),
                extent=Extent("kept", axis=1),
            ),
        )

    @property
    def deterministic(self) -> bool:
        """Rows are listed in the order in which atomics come."""
        return False

    def inputs(self, seed: int) -> dict[str, Array]:
        """Numbers of both signs, and an offset of more than 32 bits."""
        random = np.random.default_rng(seed)
        named = {tensor.name: tensor for tensor in self.tensors}
        made = {"x": random.uniform(-1, 1, named["x"].size).astype(named["x"].dtype.numpy)}
        made["offset"] = random.integers(2**63, 2**64, 1, dtype=np.uint64)
        if self.biased:
            made["bias"] = random.uniform(-1, 1, self.columns).astype(np.float32)
        return made

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y in float64, the counts, and the rows from the first to the last one that is kept."""
        named = {tensor.name: tensor for tensor in self.tensors}
        with np.errstate(invalid="ignore"):  # the gaps are NaN
            shifted = named["x"].view(inputs["x"].astype(np.float64)) + inputs.get("bias", 0.0)
        kept = self._kept(inputs)
        largest = np.abs(shifted).max()
        y = np.zeros(named["y"].size)
        named["y"].view(y)[...] = np.where(kept, shifted / (largest or 1.0), 0.0)
        kept_rows = np.argsort(~kept.T, axis=1, kind="stable").astype(np.int32)
        return {"y": y, "kept": kept.sum(axis=0, dtype=np.int32), "kept_rows": kept_rows.ravel()}

    def sampled_rows(self, seed: int) -> Array | None:
        """A few rows of y."""
        return sampled_rows(self.rows, seed, MOST_ROWS)

    def reference_rows(
        self, inputs: Mapping[str, Array], scalars: Mapping[str, float], rows: Array
    ) -> dict[str, Array]:
        """The reference, without numbers in other rows of y."""
        found, (y,) = self.reference(inputs, scalars), (tensor for tensor in self.tensors if tensor.name == "y")
        found["y"][~y.of_rows(rows)] = np.nan
        return found

    def check(
        self, inputs: Mapping[str, Array], outputs: Mapping[str, Array], scalars: Mapping[str, float]
    ) -> dict[str, Array]:
        """Each row that is listed is one that the column keeps, and is not listed before; there are as many."""
        kept, right = self._kept(inputs), np.zeros((self.columns, self.rows), np.bool_)
        lists = outputs["kept_rows"].reshape(right.shape)
        for column, (rows, count) in enumerate(zip(lists, outputs["kept"], strict=True)):
            seen: set[int] = set()
            for place, row in enumerate(rows[:count].tolist()):
                right[column, place] = 0 <= row < self.rows and kept[row, column] and row not in seen
                seen.add(row)
        return {"kept_rows": right.ravel()}

    def _kept(self, inputs: Mapping[str, Array]) -> Array:
        numbers = inputs["offset"] + np.arange(self.rows * self.columns, dtype=np.uint64)
        return _kept(numbers).reshape(self.rows, self.columns)


def _kept(number: Array) -> Array:
    """The top bit of the finaliser of SplitMix64 (Steele, Lea, Flood 2014) is 0."""
    number = (number ^ number >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ number >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    kept: Array = (number ^ number >> np.uint64(31)) >> np.uint64(63) == 0
    return kept


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
