"""KvAppendProblem and KvAppendSchedule → Program."""

from __future__ import annotations

from autotune.codegen.attention.cache import SCALED, Scales
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource, using

from .problem import KvAppendProblem
from .schedule import KvAppendSchedule
from .tensors import Where

_BITS = {"Element": DType.UINT16, "Stored": DType.UINT16}


def emit(problem: KvAppendProblem, schedule: KvAppendSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    if problem.by_head:
        return _source(problem).scheduled(schedule, "by_head", "kv_append_by_head")
    return _source(problem).scheduled(schedule)


def emit_naive(problem: KvAppendProblem) -> Program:
    """A thread for each head, which moves one element after the other."""
    heads = problem.tokens * (problem.heads + problem.heads_q)
    return _source(problem).plain(", a thread for each head", heads)


def _source(problem: KvAppendProblem) -> KernelSource:
    layouts = problem.layouts.values()
    strides = {name: step for one in layouts for name, step in zip(one.fields, one.strides, strict=True)}
    by_slots, rotates = problem.where is Where.SLOTS, problem.rotary_dim > 0
    names = ["tokens", "heads", "heads_q", "page"]
    names += ["slot_count"] if by_slots else ["pages", "columns", "fresh", "room"]
    names += ["table_rows"] if rotates else []
    if problem.scales is Scales.TENSOR:
        strides |= {f"stride_{name}_w": 0 for name in SCALED if problem.quantised}
    codes = f", as {problem.cache} with scales of {problem.scales}" if problem.quantised else ""
    turned = f", of which {problem.rotary_dim} are rotated" if rotates else ""
    heads = f"heads of {problem.head_dim} and {problem.value_elements} {problem.dtype}{turned}{codes}"
    moved = {"Element": problem.dtype, "Stored": problem.dtype_of("keys")} if problem.quantised or rotates else _BITS
    return KernelSource(
        "kv_append",
        "attention/kv_append",
        problem,
        types=using(**moved, Slot=problem.slot_dtype),
        facts={
            "value_dim": problem.value_elements,
            "token_scales": problem.scales is Scales.TOKEN,
            "by_request": not by_slots,
            "by_table": problem.where is Where.TABLE,
            "queries": problem.heads_q > 0,
        },
        sizes={name: ("int", getattr(problem, name)) for name in names}
        | {name: ("long long", value) for name, value in strides.items()},
        served=f"{heads}, slots of {problem.slot_dtype}" if by_slots else f"{heads}, by {problem.where}",
    )
