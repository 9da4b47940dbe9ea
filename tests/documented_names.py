"""The names that snippets of the docs take for granted."""

import numpy as np

import autotune
from autotune import dispatcher
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.machine.devices import named_device


def names(page):
    """What the snippets of a page do not define: arrays, small where the page names no size, and a problem."""
    random = np.random.default_rng(0)

    def array(*shape):
        return random.random(shape, dtype=np.float32)

    def boxes(*shape):
        corners = array(*shape, 2)
        return np.concatenate([corners, corners + 0.5], -1)

    common = {"dispatcher": dispatcher, "a": array(64, 64), "b": array(64, 64), "c": array(64, 64)}
    vectors = {"x": array(64), "weight": array(64, 64), "bias": array(64), "h": array(64)}
    own = {
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
        "attention.md": {name: array(1, 4, 2, 16).astype(np.float16) for name in ("q", "k", "v", "o", "grad_o")}
        | {"sinks": array(2), "lse": array(1, 2, 4)},
        "decoding.md": {name: array(4, 2, 16).astype(np.float16) for name in ("k", "v")}
        | {name: array(4, 2, 2, 16).astype(np.float16) for name in ("k_cache", "v_cache")}
        | {name: np.zeros((4, 2, 2, 16), np.int8) for name in ("codes_k", "codes_v")}
        | {name: np.ones(2, np.float32) for name in ("k_scale", "v_scale")}
        | {name: np.ones((4, 2, 2), np.float32) for name in ("own_k", "own_v")}
        | {"slots": np.array([3, 0, 6, 1], np.int32), "q": array(4, 2, 4, 16).astype(np.float16), "lse": array(4, 4, 2)}
        | {name: array(4, 2, 4, 16) for name in ("first", "second")}
        | {f"{name}_lse": array(4, 4, 2) for name in ("first", "second")}
        | {"cos_sin_cache": array(9, 16), "positions": np.array([3, 0, 6, 1], np.int32)}
        | {"lengths": np.array([2, 0, 1, 2], np.int32), "table": np.arange(4, dtype=np.int32).repeat(3).reshape(4, 3)},
        "gemv.md": {"np": np, "codes": np.ones((64, 64), np.int8), "code_pairs": np.ones((64, 32), np.uint8)}
        | {"row_scales": array(64, 1), "scales": array(64, 2), "zeros": np.ones((64, 2), np.uint8)},
        "map.md": {"gate": array(64), "up": array(64), "both": array(128), "scale": array(1)}
        | {"residual": array(64), "gradient": array(64)},
        "rope.md": {"q": array(3, 4, 64), "k": array(3, 2, 64), "positions": np.arange(3)}
        | {"cos_sin_cache": array(9, 64), "gradient_q": array(3, 4, 64), "gradient_k": array(3, 2, 64)},
        "rows.md": {"x": array(2, 4096), "h": array(2, 4096), "weight": array(4096), "bias": array(4096)}
        | {"mean": array(2), "rstd": array(2)},
        "sorting.md": {
            "x": array(64),
            "keys": random.integers(0, 1 << 20, 64, np.uint32),
            "values": array(64),
            "experts": random.integers(0, 256, 64, np.int32),
            "indices": np.empty(64, np.int64),
            "in_order": array(64),
            "offsets": np.array([0, 10, 10, 64]),
            "first": np.arange(64, dtype=np.uint32),
            "second": np.arange(64, dtype=np.uint32),
            "others": array(64),
            "both": np.empty(128, np.float32),
        },
        "scan.md": {"begins": array(64) > 0.5, "offsets": np.array([0, 10, 64]), "first": array(1)},
        "convolution.md": {
            "images": array(1, 6, 6, 8),
            "filters": array(8, 3, 3, 8),
            "planes": array(1, 8, 6, 6),
            "volumes": array(1, 4, 5, 6, 8),
            "filters_in_depth": array(8, 3, 3, 3, 8),
            "planes_of_filters": array(8, 8, 3, 3),
            "codes_of_images": np.ones((2, 6, 6, 8), np.int8),
            "codes_of_filters": np.ones((8, 3, 3, 8), np.int8),
            "filter_scales": array(8),
            "filter_bias": array(8),
            "gradient": array(1, 6, 6, 8),
        }
        | {"residual": array(1, 6, 6, 8), "sequences": array(2, 8, 16), "by_step": array(2, 16, 8), "taps": array(8, 4)}
        | {"tap_bias": array(8), "new": array(2, 8), "slots": array(5, 8, 3)}
        | {name: array(2, 8, 3) for name in ("states", "last")}
        | {"slot_of_request": np.array([4, 1], np.int32)},
        "selection.md": {"scores": array(3, 2048), "lengths": np.array([0, 7, 2048], np.int32), "gates": array(5, 16)}
        | {
            "logits": array(3, 512),
            "probs": array(3, 512),
            "draft_probs": array(3, 2, 64),
            "draft_tokens": np.zeros((3, 2), np.int64),
            "target_probs": array(3, 3, 64),
            "top_k": np.array([1, 20, 0], np.int32),
            "state": np.array([[1, 2]] * 3),
            "log_probs": array(2, 3, 64),
            "beam_scores": array(2, 3),
        }
        | {"temperature": array(3), "top_p": array(3), "min_p": array(3)},
        "vision.md": {"boxes": boxes(6), "scores": array(6), "classes": np.array([0, 0, 1, 1, 2, 2])}
        | {"batch": boxes(2, 6), "batch_scores": array(2, 6), "batch_classes": np.zeros((2, 6), np.int64)}
        | {"counts": np.array([3, 6], np.int32), "images": np.zeros((1, 9, 12, 3), np.uint8)}
        | {"pictures": [np.zeros((4, 6, 3), np.uint8), np.zeros((9, 5, 3), np.uint8)]}
        | {"head": array(1, 64 + 2, 8400) - 3, "anchors": array(3, 3, 2)}
        | {f"head{stride}": array(1, 3 * (5 + 2), 64 // stride, 64 // stride) - 3 for stride in (8, 16, 32)}
        | {"mean": array(3), "std": 1 + array(3)},
    }
    return common | vectors | own.get(page, {})


def emitted():
    """A problem, its program, and what that takes."""
    transpose, spec = autotune.operator("transpose"), named_device("h200")
    problem = transpose.problem_type(64, 64)
    program = transpose.program(problem, transpose.default(problem, spec), spec)
    arrays = {tensor.name: np.zeros(tensor.size, tensor.dtype.numpy) for tensor in problem.tensors}
    return {"problem": problem, "program": program, "arrays": arrays, "scalars": {}}
