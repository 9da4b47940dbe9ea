"""What the programs of all kernels of attention have in common, and those of kernels without a schedule."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.codegen.attention.fragments.extremes import EXTREMES
from autotune.codegen.attention.fragments.meaning import mask_lines, score_lines
from autotune.codegen.attention.fragments.ranges import chance_lines
from autotune.codegen.attention.source import head_facts, head_lines, head_sizes, head_words
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import AttentionProblem

_NAIVE_THREADS = 128
_MOST_REFERENCE_BLOCKS = 1 << 16  # each takes one row after the other


def source_of(problem: AttentionProblem, *, partials: bool = False) -> KernelSource:
    """The problem as its kernels see it, which leave partial results in a part of the workspace if there are such."""
    more = {"lse": problem.lse, f"score {problem.score}": problem.scored, f"mask {problem.mask}": problem.masked}
    return KernelSource(
        "attention",
        "attention/attention",
        problem,
        types=using(Element=problem.dtype),
        facts=head_facts(problem),
        lines={**head_lines(problem), **_fragments(problem)},
        sizes=head_sizes(problem),
        workspace=True,
        scalars=[
            *(Argument(name, "float") for name in problem.scalars),
            *([Argument("partials", "float*")] if partials else []),
            *([EXTREMES] if problem.ranged else []),
        ],
        scaled=("o",),
        served=", ".join([*head_words(problem), *(name for name, there in more.items() if there)]),
    )


def _fragments(problem: AttentionProblem) -> Mapping[str, str]:
    """Members of ``struct Problem``."""
    score, mask = problem.score_fragment(), problem.mask_fragment()
    lines = {"score_of": score_lines(score, "score_of")} if score else {}
    beside = [score] if score else []
    return lines | ({"sees": mask_lines(mask, *beside), "chance": chance_lines(mask)} if mask else {})


def stored_vector(problem: AttentionProblem) -> int:
    """Elements of a store that heads of o are aligned for, and are whole ones."""
    return widest_divisor(problem.layouts["o"].vector_width, problem.value_elements)


def emit_naive(problem: AttentionProblem) -> Program:
    """A block for each row, which computes its scores twice."""
    return _naive(problem, "float", problem.rows)


def emit_stored(problem: AttentionProblem) -> Program:
    """All scores in memory: a launch that computes them, and one with a block for each row, which reads them."""
    block, threads = (_NAIVE_THREADS, 1, 1), _NAIVE_THREADS
    attend = Launch("attention_values", (problem.rows, 1, 1), block, DType.FLOAT32.bytes * (threads + threads // WARP))
    return source_of(problem).plain(
        ", scores in memory",
        problem.rows * threads,
        f"store_scores<{threads}>(arguments);",
        "stored",
        block=threads,
        then={attend: f"attend_stored<{threads}>(arguments);"},
        workspace_bytes=DType.FLOAT32.bytes * problem.rows * problem.keys,
    )


def emit_flash_v1(problem: AttentionProblem) -> Program:
    """A block for each head of a sequence, whose outer loop goes through keys, as in FlashAttention of 2022."""
    elements = problem.head_dim + problem.value_elements
    return source_of(problem).plain(
        ", keys in the outer loop",
        problem.batch * problem.heads * _NAIVE_THREADS,
        f"attention_flash_v1<{_NAIVE_THREADS}>(arguments);",
        "flash_v1",
        block=_NAIVE_THREADS,
        shared_bytes=WARP * elements * problem.dtype.bytes,
        workspace_bytes=DType.FLOAT32.bytes * problem.rows * (2 + problem.value_elements),
    )


def emit_reference(problem: AttentionProblem) -> Program:
    """The same in double precision for rows that are listed: the truth that others are compared with on a device."""
    return _naive(problem, "double", min(problem.rows, _MOST_REFERENCE_BLOCKS), reference=True)


def _naive(problem: AttentionProblem, number: str, blocks: int, *, reference: bool = False) -> Program:
    size = (DType.FLOAT64 if reference else DType.FLOAT32).bytes
    return source_of(problem).plain(
        f", a block for each row, in {number}",
        blocks * _NAIVE_THREADS,
        f"attention_naive<{_NAIVE_THREADS}, {number}>(arguments);",
        block=_NAIVE_THREADS,
        shared_bytes=size * (_NAIVE_THREADS + _NAIVE_THREADS // WARP),
        reference=reference,
    )
