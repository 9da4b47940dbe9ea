"""What the programs of all kernels of attention_backward have in common, and those of kernels without a schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autotune.codegen.attention.fragments.extremes import EXTREMES, extremes_entry, extremes_first, extremes_part
from autotune.codegen.attention.fragments.meaning import mask_lines, score_lines
from autotune.codegen.attention.fragments.ranges import chance_lines
from autotune.codegen.attention.source import head_facts, head_lines, head_sizes, head_words
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import INT_MAX, ceil_div, round_up
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.headers import Constant
from autotune.codegen.source.kernel_source import Entry, KernelSource, using

from .problem import AttentionBackwardProblem

_NAIVE_THREADS = 128
_MOST_REFERENCE_BLOCKS = 1 << 16  # each takes one row after the other
_STATISTICS_THREADS, _ROW_LANES = 256, 8  # of statistics.cuh
_MOST_TILE = 128  # queries of a tile that others go through
_FACTORS = 4  # numbers that a thread leaves for the others


def source_of(problem: AttentionBackwardProblem, parts: Sequence[str] = ()) -> KernelSource:
    """The problem as its kernels see it, with pointers to parts of the workspace of floats."""
    pointers = [*(Argument(name, "float*") for name in parts), *([EXTREMES] if problem.ranged else [])]
    fragments = {f"score {problem.score}": problem.scored, f"mask {problem.mask}": problem.masked}
    return KernelSource(
        "attention_backward",
        "attention/attention_backward",
        problem,
        types=using(Element=problem.dtype),
        facts=head_facts(problem),
        lines={**head_lines(problem), **_fragments(problem)},
        sizes=head_sizes(problem),
        scalars=[*pointers, *(Argument(name, "float") for name in problem.scalars)],
        scaled=("dq", "dk", "dv", "dsinks"),
        served=", ".join([*head_words(problem), *(name for name, there in fragments.items() if there)]),
    )


def _fragments(problem: AttentionBackwardProblem) -> Mapping[str, str]:
    """Members of ``struct Problem``."""
    score, slope, mask = problem.score_fragment(), problem.slope_fragment(), problem.mask_fragment()
    lines = {}
    if score and slope:
        lines = {"score_of": score_lines(score, "score_of"), "slope_of": score_lines(slope, "slope_of", score)}
    beside = [one for one in (score, slope) if one]
    return lines | ({"sees": mask_lines(mask, *beside), "chance": chance_lines(mask)} if mask else {})


def passes(
    problem: AttentionBackwardProblem,
    schedule: Schedule,
    header: str,
    others: Sequence[Entry],
    facts: Mapping[str, Constant],
    summed: int = 0,
    **stated: Any,
) -> Program:
    """The program of passes, which the statistics of queries come before, and the gradients of sinks behind.

    Args:
        problem: what is computed.
        schedule: whose blocks and footprint are those of the pass for dk and dv, ``attention_backward_keys_block``.
        header: the file of the passes.
        others: the passes that follow.
        summed: bytes of the sums of dq that the first pass adds to, and that begin with zeros.
        facts, stated: see `KernelSource.scheduled`.
    """
    rows = problem.all_heads * _padded_rows(problem)
    footprint = statistics_footprint()
    statistics = Entry(
        "attention_backward_statistics", "attention_backward_statistics_block", statistics_blocks(problem), footprint
    )
    sinks = Entry("attention_backward_sinks", "attention_backward_sinks_block", problem.heads, footprint)
    vectors = {
        "stored_vector": problem.widest_of("dq", "dk", "dv"),
        "statistics_vector": problem.widest_of("o", "dout"),
    }
    parts = {"shifts": rows * WORD_BYTES, "deltas": rows * WORD_BYTES} | ({"sums": summed} if summed else {})
    source = source_of(problem, tuple(parts))
    if problem.ranged:
        parts |= extremes_part(problem.integers_count)
    program = source.scheduled(
        schedule,
        header,
        "attention_backward_keys_block",
        *others,
        *([sinks] if problem.sinks else []),
        *([extremes_entry(problem.integers_count)] if problem.ranged else []),
        statistics,
        facts={**facts, **vectors},
        **stated,
    )
    *passed, first = program.launches
    cleared = [Memset(0, summed, region="sums")] if summed else []
    program = extremes_first(replace(program, steps=(*cleared, first, *passed)))
    return program.in_workspace(**parts)


def statistics_footprint() -> Footprint:
    """Of a block that has statistics of rows, or the gradient of a sink."""
    return Footprint(_STATISTICS_THREADS, _STATISTICS_THREADS // WARP * WORD_BYTES)


def statistics_blocks(problem: AttentionBackwardProblem) -> int:
    """Blocks of the launch ahead of the passes."""
    return ceil_div(problem.all_heads * _padded_rows(problem), _STATISTICS_THREADS // _ROW_LANES)


def _padded_rows(problem: AttentionBackwardProblem) -> int:
    """As in passes.cuh: tiles of up to 128 queries begin at multiples of 8, as does each packed sequence."""
    return round_up(problem.queries + _MOST_TILE, 8) + (8 * problem.batch if problem.segmented else 0)


def emit_naive(problem: AttentionBackwardProblem) -> Program:
    """A block for each row, which computes all that it needs."""
    return _naive(problem, "float")


def emit_reference(problem: AttentionBackwardProblem) -> Program:
    """The same in double precision for rows that are listed: the truth that others are compared with on a device."""
    return _naive(problem, "double", reference=True)


def _naive(problem: AttentionBackwardProblem, number: str, *, reference: bool = False) -> Program:
    size = (DType.FLOAT64 if reference else DType.FLOAT32).bytes
    shared = size * _FACTORS * _NAIVE_THREADS
    most = _MOST_REFERENCE_BLOCKS if reference else INT_MAX

    def call(function: str) -> str:
        return f"{function}<{_NAIVE_THREADS}, {number}>(arguments);"

    def launch(entry: str, blocks: int) -> Launch:
        return Launch(entry, (blocks, 1, 1), (_NAIVE_THREADS, 1, 1), shared)

    then = {launch("attention_backward_keys", min(problem.key_rows, most)): call("naive_keys")}
    if problem.sinks:
        then[launch("attention_backward_sinks", problem.heads)] = call("naive_sinks")
    return source_of(problem).plain(
        f", a block for each row, in {number}",
        min(problem.rows, most) * _NAIVE_THREADS,
        call("naive_queries"),
        block=_NAIVE_THREADS,
        shared_bytes=shared,
        reference=reference,
        then=then,
    )
