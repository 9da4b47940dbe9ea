"""A model of transformers by operators of this project, layer by layer, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from autotune import torch as functions
from autotune.torch.linear import Linear

from . import rotary
from .alike import difference, unusable
from .attention import NAME
from .loss import causal_loss
from .norms import layer_norm, rms_norm
from .worth import is_worth

_Forward = Callable[..., Any]
_ACTIVATIONS: dict[str, _Forward] = {
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": partial(torch.nn.functional.gelu, approximate="tanh"),
    "relu": torch.nn.functional.relu,
}
_BEFORE = "_autotune_before"  # the attribute of a patched model that holds what `unpatch` restores
_ROWS = 3  # of a layer's trial
_NEVER_FUSED = ("gemm",)  # what a compiler does not fuse with what is around it


@dataclass(frozen=True)
class Patched:
    """What `patch` did to a model: how many layers of each class got which operator, or kept their own forward."""

    replaced: dict[tuple[str, str], int]
    kept: dict[tuple[str, str], int]

    def __str__(self) -> str:
        rows = [("layers", "class", "now by")]
        for found, words in ((self.replaced, ""), (self.kept, "its own: ")):
            rows += [(str(count), name, words + by) for (name, by), count in sorted(found.items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )


def patch(model: Any) -> Patched:
    """Have a model's layers computed by operators of this project, until `unpatch`.

    Norms, linear layers, gated layers, rotary embeddings, attention and the loss of causal models are replaced, of this
    model alone. Each layer but ``torch.nn.Linear`` is tried first: one whose results on random rows are not those of
    its own forward keeps it. Parameters, hooks and `state_dict` stay.

    Args:
        model: of transformers, whose parameters are bfloat16, float16 or float32, on the device where it is used.

    Returns:
        What was replaced, and what was not, and why: it prints as a table.

    Raises:
        ValueError: the model is patched.
    """
    if hasattr(model, _BEFORE):
        raise ValueError("the model is patched: expected unpatch(model) first")
    layers: list[Any] = []
    tables: set[bool | None] = set()
    replaced: Counter[tuple[str, str]] = Counter()
    kept: Counter[tuple[str, str]] = Counter()
    for module in model.modules():
        name, why = type(module).__name__, ""
        for by, forward, trial in _candidates(module):
            why = trial()
            if not why:
                module.forward = _chosen(module, by, forward)
                layers.append(module)
                tables.add(rotary.form_of(forward))
                replaced[name, by] += 1
                break
        else:
            if why:
                kept[name, why] += 1
    layers += _with_tables(model, tables - {None})
    before = {"layers": layers, "attention": model.config._attn_implementation}
    if model.config._attn_implementation in ("eager", "sdpa"):
        model.set_attn_implementation(NAME)
        replaced["attention", "attention"] += 1
    if model.loss_function.__name__ == "ForCausalLMLoss":
        model.loss_function = causal_loss
        replaced["loss", "cross_entropy"] += 1
    setattr(model, _BEFORE, before)
    return Patched(dict(replaced), dict(kept))


def unpatch(model: Any) -> None:
    """Give a model back what `patch` replaced.

    Raises:
        ValueError: the model is not patched.
    """
    if not hasattr(model, _BEFORE):
        raise ValueError("the model is not patched: expected patch(model) first")
    before = getattr(model, _BEFORE)
    for module in before["layers"]:
        del module.forward  # that of its class is there again
    if model.config._attn_implementation == NAME:
        model.set_attn_implementation(before["attention"])
    if model.loss_function is causal_loss:
        del model._loss_function
    delattr(model, _BEFORE)


def _chosen(module: Any, by: str, forward: _Forward) -> _Forward:
    """A forward, but that of the layer's class where that is sooner.

    So it is while a compiler follows, which fuses it with what is around it, and for little work; see `is_worth`.
    """
    own = partial(type(module).forward, module)

    def chosen(*arguments: Any, **options: Any) -> Any:
        fused = by not in _NEVER_FUSED and torch.compiler.is_compiling()
        return (own if fused or not is_worth(by, module, *arguments) else forward)(*arguments, **options)

    return chosen


def _with_tables(model: Any, forms: set[bool | None]) -> list[Any]:
    """Have the tables of rotary embeddings made once a step; the layers whose forward that replaced."""
    found = [one for one in model.modules() if type(one).__name__.endswith("RotaryEmbedding") and len(forms) == 1]
    for module in found:
        module.forward = _chosen(module, "rope", rotary.forward_with_table(module, *forms))
    return found


def _candidates(module: Any) -> Iterator[tuple[str, _Forward, Callable[[], str]]]:
    """Operators that may compute what a layer does, the layer's forward by them, and why it is another, if it is."""
    for by, forward in _forwards(module):
        known = type(module) is torch.nn.Linear and "forward" not in vars(module)
        yield by, forward, partial(unusable, module) if known else partial(_difference_of_layers, module, forward)
    for own, other in rotary.forms(module):
        inputs = partial(rotary.trial, other.keywords["doubled"])
        yield "rope", rotary.forward_with(module, other), partial(difference, module, own, other, inputs)


def _forwards(module: Any) -> Iterator[tuple[str, _Forward]]:
    if isinstance(module, torch.nn.LayerNorm):
        yield "layer_norm", partial(layer_norm, module)
    elif type(module) is torch.nn.Linear:
        yield "gemm", partial(Linear.forward, module)
    elif type(module).__name__.endswith("RMSNorm"):
        for offset in (0.0, 1.0):
            yield "rms_norm", partial(rms_norm, module, offset)
    elif all(hasattr(module, name) for name in ("gate_proj", "up_proj", "down_proj", "act_fn")):
        for activation, function in _ACTIVATIONS.items():
            points = torch.linspace(-4, 4, 33)
            if torch.allclose(module.act_fn(points), function(points), atol=1e-6):
                yield "map", partial(_gated, module, activation)


def _difference_of_layers(module: Any, forward: _Forward) -> str:
    def rows(parameter: Any) -> tuple[Any]:
        columns = getattr(module, "hidden_size", None) or parameter.shape[-1]
        return (torch.randn(_ROWS, columns, generator=torch.Generator().manual_seed(0)).to(parameter),)

    return difference(module, module, forward, rows)


def _gated(module: Any, activation: str, x: Any) -> Any:
    return module.down_proj(functions.map(module.gate_proj(x), activation, factors=module.up_proj(x)))
