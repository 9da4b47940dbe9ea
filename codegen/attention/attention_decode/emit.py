"""What the programs of all kernels of decoding have in common, and those of kernels without a schedule."""

from __future__ import annotations

from autotune.codegen.attention.cache import SCALED, Scales
from autotune.codegen.attention.source import head_facts, head_lines, head_sizes, head_words
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import AttentionDecodeProblem

_NAIVE_THREADS = 128
_MOST_REFERENCE_BLOCKS = 1 << 16  # each takes one row after the other


def source_of(problem: AttentionDecodeProblem, *, partials: bool = False) -> KernelSource:
    """The problem as its kernels see it, which leave partial results in a part of the workspace if there are such."""
    counts = {
        "batch": problem.batch,
        "pages": problem.all_pages,
        "columns": problem.columns,
        "kv_heads": problem.kv_heads,
    }
    by_token = problem.scales is Scales.TOKEN
    words = {
        "lse": problem.lse,
        "the first diagonal": problem.top_left,
        "one query": problem.queries == 1,
        f"pages of {problem.page}": problem.page > 0,
        f"a cache of {problem.cache}": problem.quantised,
        "scales of tokens": by_token,
    }
    scaled = {
        "head_scales": problem.quantised and not by_token,
        "token_scales": by_token,
        "scaled_rows": problem.quantised and problem.dtype is not DType.FLOAT16,
    }
    sizes = head_sizes(problem)
    if problem.scales is Scales.TENSOR:
        sizes |= {f"stride_{name}_w": ("long long", 0) for name in SCALED if problem.quantised}
    return KernelSource(
        "attention_decode",
        "attention/attention_decode",
        problem,
        types=using(Element=problem.dtype, Stored=problem.dtype_of("k")),
        facts={**head_facts(problem), "paged": problem.page > 0, "one_query": problem.queries == 1, **scaled},
        conditions={"stored_vector": 1},  # of O by kernels of attention
        lines=head_lines(problem),
        sizes=sizes | {name: ("int", value) for name, value in counts.items()},
        workspace=True,
        scalars=[
            *(Argument(name, "float") for name in problem.scalars),
            *([Argument("partials", "float*")] if partials else []),
        ],
        scaled=("o",),
        served=", ".join([*head_words(problem), *(word for word, there in words.items() if there)]),
    )


def emit_naive(problem: AttentionDecodeProblem) -> Program:
    """A block for each row, which computes its scores twice."""
    return _naive(problem, "float", problem.rows)


def emit_reference(problem: AttentionDecodeProblem) -> Program:
    """The same in double precision for rows that are listed: the truth that others are compared with on a device."""
    return _naive(problem, "double", min(problem.rows, _MOST_REFERENCE_BLOCKS), reference=True)


def _naive(problem: AttentionDecodeProblem, number: str, blocks: int, *, reference: bool = False) -> Program:
    size = (DType.FLOAT64 if reference else DType.FLOAT32).bytes
    return source_of(problem).plain(
        f", a block for each row, in {number}",
        blocks * _NAIVE_THREADS,
        f"attention_decode_naive<{_NAIVE_THREADS}, {number}>(arguments);",
        block=_NAIVE_THREADS,
        shared_bytes=size * (_NAIVE_THREADS + _NAIVE_THREADS // WARP),
        reference=reference,
    )
