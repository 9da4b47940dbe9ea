"""What kernels hold of boxes."""

from __future__ import annotations

from autotune.codegen.model.hardware import WORD_BYTES

from .problem import CORNERS, Classes, NmsProblem

TILE = 32  # boxes that a warp looks at together: as many as a mask has bits
ENTRY_BYTES = 8  # a score and its index
MASK_BYTES = 4  # a bit for each box of a tile
KNOWN_WORDS = 4  # of a tile, while boxes are chosen: those that are out and those that are kept, of two rounds


def candidate_bytes(problem: NmsProblem) -> int:
    """Of the corners of a box in float32, and its class."""
    return CORNERS * WORD_BYTES + (0 if problem.classes is Classes.NONE else problem.classes.dtype.bytes)


def pairs_of_tiles(tiles: int) -> int:
    """Pairs of which one is the earlier, or both are the same."""
    return tiles * (tiles + 1) // 2
