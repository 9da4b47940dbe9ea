"""c = a · b by tiles in shared memory: constraints between parameters and sizes, and a source in a file of its own."""

import numpy as np

import autotune
from autotune import Input, Output, Value


def reference(a, b):
    """The product, and what its errors are relative to: the sums of the terms' absolute values."""
    return {"c": a @ b, "c_scale": np.abs(a) @ np.abs(b)}


matmul = autotune.kernel(
    source="matmul.cu",
    entry="matmul",
    arguments={
        "c": Output("float32", "m", "n"),
        "a": Input("float32", "m", "k"),
        "b": Input("float32", "k", "n"),
        "n": Value("int"),
        "k": Value("int"),
    },
    problem={"m": 4096, "n": 4096, "k": 4096},
    parameters={
        "block_x": [8, 16, 32, 64],
        "block_y": [2, 4, 8, 16, 32],
        "tile_x": [1, 2, 4, 8],
        "tile_y": [1, 2, 4, 8],
    },
    constraints=[
        "32 <= block_x * block_y <= 1024",
        "m % (block_y * tile_y) == 0",
        "n % (block_x * tile_x) == 0",
        "k % block_x == 0",
        # two tiles of floats in the 48 KiB that a block may have without asking
        "4 * block_x * (block_y * tile_y + block_x * tile_x) <= 48 * 1024",
    ],
    block=("block_x", "block_y"),
    grid=("n // (block_x * tile_x)", "m // (block_y * tile_y)"),
    default={"block_x": 16, "block_y": 16, "tile_x": 4, "tile_y": 4},
    flops="2 * m * n * k",
    reference=reference,
    whole_numbers=True,
)

if __name__ == "__main__":
    best = matmul.tune(trials=50).best
    print(best and (best.schedule, best.seconds))
