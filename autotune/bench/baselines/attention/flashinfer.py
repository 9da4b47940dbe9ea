"""The baseline ``flashinfer`` of attention_decode: FlashInfer's headers, whose functions its Python calls."""

from __future__ import annotations

from pathlib import Path

from autotune.bench.baselines.nvcc_driver import FLASHINFER, cuda_name, driver_baseline, driver_source
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.tensor import row_major
from autotune.search_spaces.contract.baselines import NotTakenError

_FILE = Path(__file__).with_name("flashinfer_decode.hpp")
_DIMS, _GROUPS = (64, 128, 256), (1, 2, 3, 4, 6, 8, 16)


def decode_source(problem: AttentionDecodeProblem) -> str:
    """The driver of its decoding for problems of one kind.

    Raises:
        ValueError: this driver serves no such problem.
    """
    gaps = any(one.strides != row_major(one.shape)[:-1] for one in problem.layouts.values())
    more = problem.quantised or problem.latent or problem.sinks or problem.lse or problem.full
    if more or gaps or problem.queries != 1 or not problem.page:
        raise NotTakenError("this driver of FlashInfer decodes one query with pages without gaps, sinks and lse")
    if problem.head_dim not in _DIMS or problem.value_elements != problem.head_dim or problem.group not in _GROUPS:
        raise NotTakenError(
            f"FlashInfer decodes heads of {_DIMS} elements in groups of {_GROUPS}, "
            f"not {problem.head_dim} and {problem.value_elements} in groups of {problem.group}"
        )
    macros = {
        "DECODED_GROUP": problem.group,
        "DECODED_DIM": problem.head_dim,
        "WINDOW": problem.window_left,
        "SOFTCAP": float(problem.scalars["softcap"]),
        "SCALE": float(problem.scalars["scale"] or problem.usual_scale),
    }
    return driver_source(_FILE, {"Element": cuda_name(problem.dtype)}, macros)


DECODE = driver_baseline(
    "flashinfer",
    "FlashInfer's BatchDecodeWithPagedKVCache, planned ahead",
    decode_source,
    lambda problem: (problem.batch, problem.columns, problem.heads, problem.page),
    headers=FLASHINFER,
    verified=False,  # sums of parts are rounded to the type of o: of groups of 8, some elements were 1 % off
)
