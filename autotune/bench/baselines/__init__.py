"""The baselines of an operator: those that it states, and the driver's copy, which every operator has."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autotune.bench.baseline import Baseline
from autotune.search_spaces.contract.baselines import TorchCall
from autotune.search_spaces.contract.operator import Operator

from .device_copy import COPY
from .torch_call import torch_baseline

COPY_NAME = "copy"


def baselines_of(operator: Operator[Any, Any]) -> dict[str, Baseline]:
    """The baselines by the names that users type; `COPY_NAME` is the last one."""
    own = {name: _baseline(name, stated) for name, stated in operator.baselines.items()}
    return own | {COPY_NAME: COPY}


def _baseline(name: str, stated: TorchCall | str) -> Baseline:
    """A call of PyTorch, or the `Baseline` at ``module:NAME``, a module of this package by its name within it."""
    if isinstance(stated, TorchCall):
        return torch_baseline(name, stated)
    module, _, attribute = stated.partition(":")
    root = __name__.removesuffix(".bench.baselines")
    found: Baseline = getattr(import_module(f"{root}.{module}"), attribute)
    return found
