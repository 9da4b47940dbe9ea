"""The baseline ``flashinfer`` of topk and of sampling: FlashInfer's headers, whose functions its Python calls."""

from __future__ import annotations

from pathlib import Path

from autotune.bench.baselines.nvcc_driver import FLASHINFER, cuda_name, driver_baseline, driver_source
from autotune.codegen.model.dtype import DType
from autotune.codegen.selection.sampling.problem import SamplingProblem, Source
from autotune.codegen.selection.topk.order import Order
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.search_spaces.contract.baselines import NotTakenError

_FOLDER = Path(__file__).parent


def topk_source(problem: TopkProblem) -> str:
    """The driver of its top-k for problems of one kind.

    Raises:
        ValueError: FlashInfer has no such selection.
    """
    gaps = problem.ldx > problem.columns or problem.ldv > problem.k
    if problem.lengths or not problem.largest or gaps:
        raise NotTakenError("this driver of FlashInfer selects the largest elements of whole rows without gaps")
    types = {"Element": cuda_name(problem.dtype)}
    return driver_source(_FOLDER / "flashinfer_topk.hpp", types, {"SORTED": int(problem.order is Order.SORTED)})


def sampling_source(problem: SamplingProblem) -> str:
    """The driver of its softmax and its sampling for problems of one kind.

    Raises:
        ValueError: FlashInfer has no such draw.
    """
    if problem.dtype is not DType.FLOAT32 or problem.ldx not in (0, problem.columns):
        raise NotTakenError(f"FlashInfer samples float32 without gaps between rows, not {problem.dtype}")
    if problem.min_p and (problem.top_k or problem.top_p):
        raise NotTakenError("FlashInfer samples by min_p alone")
    macros = {name.upper(): int(getattr(problem, name)) for name in ("temperatures", "top_k", "top_p", "min_p")}
    macros["FROM_LOGITS"] = int(problem.source is Source.LOGITS)
    return driver_source(_FOLDER / "flashinfer_sampling.hpp", {}, macros)


# Of equal elements it returns any; its indices are int32, and are not widened.
TOPK = driver_baseline(
    "flashinfer",
    "FlashInfer's top_k",
    topk_source,
    lambda problem: (problem.rows, problem.columns, problem.k),
    headers=FLASHINFER,
    verified=False,
)
# It draws others.
SAMPLING = driver_baseline(
    "flashinfer",
    "FlashInfer's softmax and sampling_from_probs, by the parameters that there are",
    sampling_source,
    lambda problem: (problem.rows, problem.columns),
    headers=FLASHINFER,
    verified=False,
)
