"""The ladder of sorts, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.values import Values

from .emit import emit_onesweep
from .onesweep.schedule import OnesweepSchedule
from .problem import RadixSortProblem
from .source import count_bytes, source_of, with_parts

_KEYS = {"out": "keys_out", "spare": "spare_keys"}
_VALUES = {"out": "values_out", "spare": "spare_values"}
_TWO_BITS = 2
_NAIVE_BITS, _PIECE, _PIECES = 4, 32, 16384  # keys of a piece at least, and pieces at most if rows are fewer
_THREADS, _PIECE_THREADS = 256, 64  # of a block


def emit_naive(problem: RadixSortProblem) -> Program:
    """A thread for each piece of a row, which counts and moves its keys one after the other."""
    useful, shared = ceil_div(problem.columns, _PIECE), max(1, _PIECES // max(1, problem.rows))
    piece = max(1, ceil_div(problem.columns, min(useful, shared) or 1))
    pieces = ceil_div(problem.columns, piece)
    members = [*_moving(problem), Argument("table", "void*"), Argument("piece_keys", "long long", piece)]
    source = source_of(problem, members, {"digit_bits": _NAIVE_BITS})
    scan = Launch("radix_sort_scan", (problem.rows, 1, 1), (_THREADS, 1, 1), _THREADS * count_bytes(problem))
    move = Launch("radix_sort_move", (ceil_div(problem.rows * pieces, _PIECE_THREADS), 1, 1), (_PIECE_THREADS, 1, 1))
    program = source.plain(
        ", a thread for each piece",
        problem.rows * pieces,
        "count_piece(arguments);",
        block=_PIECE_THREADS,
        then={scan: f"scan_counts<{_THREADS}>(arguments);", move: "move_piece(arguments);"},
    )
    steps = [
        launch.taking(shift=shift, **route)
        for shift, route in _routes(problem, _NAIVE_BITS)
        for launch in program.launches
    ]
    table = problem.rows * pieces * (1 << _NAIVE_BITS) * count_bytes(problem)
    return with_parts(replace(program, steps=tuple(steps)), problem, problem.values.bytes, table=table)


def emit_two_bit(problem: RadixSortProblem) -> Program:
    """Blocks that sort a key of each thread by two bits, and then move them."""
    pieces, value = ceil_div(problem.columns, _THREADS), problem.values.bytes
    blocks = problem.rows * pieces
    members = [*_moving(problem), Argument("table", "void*"), Argument("piece_keys", "long long", _THREADS)]
    source = source_of(problem, members, {"digit_bits": _TWO_BITS})
    scan = Launch("radix_sort_scan", (problem.rows, 1, 1), (_THREADS, 1, 1), _THREADS * count_bytes(problem))
    move = Launch("radix_sort_move", (blocks, 1, 1), (_THREADS, 1, 1), 4 << _TWO_BITS)
    program = source.plain(
        ", two bits a pass",
        blocks * _THREADS,
        f"split_block<{_THREADS}>(arguments);",
        "two_bit",
        block=_THREADS,
        shared_bytes=round_up(_THREADS * (8 + problem.dtype.bytes + value), 16),
        then={scan: f"scan_counts<{_THREADS}>(arguments);", move: f"move_split<{_THREADS}>(arguments);"},
    )
    split, scan, move = program.launches
    has_values = problem.values is not Values.NONE
    out, spare = (_to(side, has_values) for side in ("out", "spare"))
    steps: list[Launch] = []
    for number, shift in enumerate(range(problem.begin_bit, problem.last_bit, _TWO_BITS)):
        given = _from("out", has_values) if number else _given(problem)
        between = {"shift": shift, **_from("spare", has_values)}
        steps += [
            split.taking(shift=shift, **given, **spare),
            scan.taking(shift=shift, **given, **spare),
            move.taking(**between, **out),
        ]
    table = blocks * (1 << _TWO_BITS) * count_bytes(problem)
    return with_parts(replace(program, steps=tuple(steps)), problem, value, table=table)


PRESETS: Mapping[str, Callable[[RadixSortProblem], Program]] = {
    "naive": emit_naive,
    "two_bit": emit_two_bit,
    "onesweep": lambda problem: emit_onesweep(problem, OnesweepSchedule(256, 4)),
}


def _moving(problem: RadixSortProblem) -> list[Argument]:
    """What each pass of a plain kernel reads and writes, and the first bit of its digit."""
    names = ["source", "source_values"], ["target", "target_values"]
    count = 2 if problem.values is not Values.NONE else 1
    read, written = (some[:count] for some in names)
    pointers = [*(Argument(name, "const void*") for name in read), *(Argument(name, "void*") for name in written)]
    return [*pointers, *([Argument("keys_out", "void*")] if problem.order_only else []), Argument("shift", "int")]


def _given(problem: RadixSortProblem) -> dict[str, str | None]:
    """What the first pass of a plain kernel reads."""
    values = {"source_values": "values" if problem.values.is_array else None}
    return {"source": "keys", **(values if problem.values is not Values.NONE else {})}


def _from(side: str, has_values: bool) -> dict[str, str | None]:
    return {"source": _KEYS[side], **({"source_values": _VALUES[side]} if has_values else {})}


def _to(side: str, has_values: bool) -> dict[str, str | None]:
    return {"target": _KEYS[side], **({"target_values": _VALUES[side]} if has_values else {})}


def _routes(problem: RadixSortProblem, bits: int) -> Iterator[tuple[int, dict[str, str | None]]]:
    """The first bit of each pass, and what it reads and writes: the last pass writes the results."""
    shifts, has_values = range(problem.begin_bit, problem.last_bit, bits), problem.values is not Values.NONE
    for number, shift in enumerate(shifts):
        before, after = ("spare", "out") if (len(shifts) - number) % 2 else ("out", "spare")
        yield shift, (_from(before, has_values) if number else _given(problem)) | _to(after, has_values)
