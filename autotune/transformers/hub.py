"""Models of transformers by the package kernels of Hugging Face, with layers of this project."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from transformers import KernelConfig

from . import local_kernels, rotary
from .alike import difference

_FOLDER = Path(local_kernels.__file__).parent
_SAME_NAMES = ("RMSNorm", "SiLU", "GeLU", "GeluTanh")
_ROTARY = {
    (True, False): "Rotary",
    (False, False): "RotaryByHalfTables",
    (True, True): "RotaryOfNeighbours",
}
_ROTARY_NAME = "rotary_pos_emb"


def kernel_config(model: Any) -> KernelConfig:
    """What ``model.set_use_kernels(True, kernel_config(model))`` takes to use layers of this project.

    Args:
        model: of transformers, while the package kernels (0.16) is installed: it decides which layers can be replaced.
            Its norms, activations and rotary embeddings are, if this project has them.

    Raises:
        ValueError: the model has no layer that can be replaced.
    """
    registered = KernelConfig()
    registered.store_registered_layer_names(model)
    names = set(registered.registered_layer_names.values())
    chosen = {name: name for name in _SAME_NAMES if name in names}
    if _ROTARY_NAME in names and (form := _rotary_of(model)):
        chosen[_ROTARY_NAME] = form
    if not chosen:
        raise ValueError(f"layers that kernels may replace: {sorted(names) or 'none'}; expected some of {_SAME_NAMES}")
    return KernelConfig({name: f"{_FOLDER}:{layer}" for name, layer in chosen.items()}, use_local_kernel=True)


def _rotary_of(model: Any) -> str:
    """The layer that rotates as a model does; empty if none does."""
    for module in model.modules():
        for own, other in rotary.forms(module):
            if not difference(module, own, other, partial(rotary.trial, other.keywords["doubled"])):
                return _ROTARY[other.keywords["doubled"], other.keywords["interleaved"]]
    return ""
