"""What was published about the kernels that are presets here."""

from __future__ import annotations

from collections.abc import Mapping

PUBLISHED_DEVICE = "RTX A6000"
# Share of cuBLAS at 4096³ (Boehm, How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance, 2022).
PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "sgemm": {
        "naive": 0.013,
        "coalesced": 0.085,
        "shared": 0.128,
        "tile_1d": 0.365,
        "tile_2d": 0.687,
        "vectorised": 0.784,
        "warp_tile": 0.937,
        "double_buffered": 0.743,
    }
}
