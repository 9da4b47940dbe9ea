"""``autotune bench torch``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.base.files import write_text
from autotune.cli.errors import BadInputError, InterruptedRunError
from autotune.cli.options import JsonOption, output_option
from autotune.cli.rendering.output import json_text, print_json, print_table

if TYPE_CHECKING:
    from autotune.bench.torch_calls import MeasuredCall

_TOKENS = (1, 4096)
_FEATURES = 4096


def bench_torch(
    rounds: Annotated[int, typer.Option(min=4, help="How many samples to take of each call.")] = 20,
    output: Annotated[Path | None, output_option("Write the result as JSON to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure what calls of autotune.torch cost the host, with and without gradients, beside PyTorch's own."""
    from autotune.bench import torch_calls as bench

    reason = bench.missing()
    if reason:
        raise BadInputError(reason)
    import torch

    done: list[MeasuredCall] = []
    interrupted = False
    try:
        for call in bench.torch_calls(_TOKENS, _FEATURES, "cuda", rounds):
            done.append(call)
            print(f"{len(done)}  {call.case}, {call.tokens} tokens, {call.mode}", file=sys.stderr)
    except KeyboardInterrupt:
        interrupted = True
    result = _document(done, torch.cuda.get_device_name(), torch.__version__)
    if output:
        write_text(output, json_text(result) + "\n")
    if as_json:
        print_json(result)
    else:
        _print(done, result["device"])
    if interrupted:
        raise InterruptedRunError(f"interrupted; {len(done)} calls were measured")


def _document(done: Sequence[MeasuredCall], device: str, version: str) -> dict[str, Any]:
    """The result as JSON values; docs/benchmarks.md says what each member is."""
    return {
        "device": device,
        "torch": version,
        "features": _FEATURES,
        "calls": [
            {
                "call": call.case,
                "tokens": call.tokens,
                "mode": call.mode,
                "contenders": {name: cost._asdict() for name, cost in call.costs.items()},
            }
            for call in done
        ],
    }


def _print(done: Sequence[MeasuredCall], device: str) -> None:
    """A line for each call and number of tokens: the host's time in each mode, and the whole time of a step."""
    from autotune.bench.torch_calls import OWN, PYTORCH

    rows: dict[tuple[str, int], list[str]] = {}
    for call in done:
        own, other = call.costs[OWN], call.costs[PYTORCH]
        row = rows.setdefault((call.case, call.tokens), [])
        row += [_microseconds(own.host), _microseconds(other.host)]
        if call.mode == "step":
            row += [_microseconds(own.whole), _microseconds(other.whole)]
    pairs = [name for mode in ("no_grad", "forward", "step", "step, whole") for name in (mode, "PyTorch")]
    columns = ["call", "tokens", *pairs]
    complete = [(*key, *row) for key, row in rows.items() if len(row) == len(pairs)]
    print_table(f"Microseconds of the host on {device}, and of steps with the GPU's work", columns, complete)


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"
