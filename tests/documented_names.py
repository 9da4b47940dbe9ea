"""The names that snippets of the docs take for granted."""

from typing import Any

import numpy as np

import autotune
from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.machine.devices import named_device


def names(page: str) -> dict[str, Any]:
    """What the snippets of a page do not define: arrays, small where the page names no size, and a problem."""
    random = np.random.default_rng(0)

    def array(*shape: int) -> Any:
        return random.random(shape, dtype=np.float32)

    common = {"dispatcher": dispatcher, "a": array(64, 64), "b": array(64, 64), "c": array(64, 64)}
    vectors = {"x": array(64), "weight": array(64, 64), "bias": array(64), "h": array(64)}
    own: dict[str, dict[str, Any]] = {
        "database.md": emitted(),
        "dropout.md": {"seed": 1, "offset": 2, "state": np.array([3, 4]), "mask": np.zeros(64, np.uint8)}
        | {"residual": array(64), "gradient": array(64)},
        "emulator.md": emitted(),
        "gemm.md": {"np": np}
        | {name: array(64, 64).astype(np.float16) for name in ("a", "b", "x", "weight", "h", "dy")}
        | {
            "bias": array(64).astype(np.float16),
            "total": array(64, 64),
            "gate_and_up": array(128, 64).astype(np.float16),
            "a32": array(64, 64),
            "b32": array(64, 64),
        }
        | {name: array(64, 64).astype(DType.FLOAT8_E4M3.numpy) for name in ("a8", "b8")}
        | {"codes": np.ones((64, 64), np.int8), "row_scales": array(64), "column_scales": array(64)}
        | {"scales": array(64, 1), "block_scales": array(1, 1)},
        "attention.md": {name: array(1, 4, 2, 16).astype(np.float16) for name in "qkv"}
        | {"sinks": array(2), "lse": array(1, 2, 4)},
        "gemv.md": {"np": np, "codes": np.ones((64, 64), np.int8), "code_pairs": np.ones((64, 32), np.uint8)}
        | {"row_scales": array(64, 1), "scales": array(64, 2), "zeros": np.ones((64, 2), np.uint8)},
        "map.md": {"gate": array(64), "up": array(64), "both": array(128), "scale": array(1)}
        | {"residual": array(64), "gradient": array(64)},
        "rope.md": {"q": array(3, 4, 64), "k": array(3, 2, 64), "positions": np.arange(3)}
        | {"cos_sin_cache": array(9, 64), "gradient_q": array(3, 4, 64), "gradient_k": array(3, 2, 64)},
        "rows.md": {"x": array(2, 4096), "h": array(2, 4096), "weight": array(4096), "bias": array(4096)}
        | {"mean": array(2), "rstd": array(2)},
        "scan.md": {"begins": array(64) > 0.5, "offsets": np.array([0, 10, 64]), "first": array(1)},
    }
    return common | vectors | own.get(page, {})


def emitted() -> dict[str, Any]:
    """A problem, its program, and what that takes."""
    transpose, spec = autotune.operator("transpose"), named_device("h200")
    problem = transpose.problem_type(64, 64)
    program = transpose.program(problem, transpose.default(problem, spec), spec)
    arrays = {tensor.name: np.zeros(tensor.size, tensor.dtype.numpy) for tensor in problem.tensors}
    return {"problem": problem, "program": program, "arrays": arrays, "scalars": {}}
