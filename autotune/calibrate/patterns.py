"""Bandwidth against the pattern of addresses: stride, alignment, and pieces that lie far apart.

Memory moves in sectors of 32 bytes, and DRAM opens a page for each piece that lies elsewhere.
"""

from __future__ import annotations

import numpy as np

from autotune.codegen.calibration import programs
from autotune.codegen.calibration.programs import THREADS
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.search_spaces.machine.calibration import Curve

from .experiment import Found, check_result, sum_of_words, wrapped
from .instrument import Instrument

_STRIDES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # in words, as all that follows
_MOST_STRIDED = 1 << 26  # loads of a launch
_GAP = 64  # a warp's words begin so many apart, so that warps share no sector
_OFFSETS = (0, 1, 4, 8, 12, 16, 20, 24, 28, 32)
_PIECES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_MOST_WORDS = 1 << 28  # that pieces have together
_OUT_OF_ORDER = 0x9E3779B1  # odd; its multiples lie evenly (Knuth, TAOCP 6.4)


def stride(instrument: Instrument) -> Found:
    """Neighbouring threads load words that lie further and further apart."""
    words = instrument.bytes_x // WORD_BYTES
    return Found(
        curves={
            Curve.STRIDE: tuple(
                (WORD_BYTES * pitch, _bandwidth(instrument, min(words // pitch, _MOST_STRIDED), 1, pitch))
                for pitch in _STRIDES
            )
        }
    )


def alignment(instrument: Instrument) -> Found:
    """Warps load 128 bytes each, which begin at a sector or beside one."""
    warps = instrument.bytes_y // WORD_BYTES // _GAP
    return Found(
        curves={
            Curve.ALIGNMENT: tuple(
                (WORD_BYTES * offset, _bandwidth(instrument, warps, WARP, _GAP, offset)) for offset in _OFFSETS
            )
        }
    )


def scattered(instrument: Instrument) -> Found:
    """All words are read, in pieces whose order leads to and fro."""
    words = min(instrument.bytes_x // WORD_BYTES, _MOST_WORDS)
    return Found(
        curves={
            Curve.SCATTERED: tuple(
                (WORD_BYTES * piece, _bandwidth(instrument, words // piece, piece, piece, multiplier=_OUT_OF_ORDER))
                for piece in _PIECES
            )
        }
    )


def _bandwidth(
    instrument: Instrument, chunks: int, words: int, pitch: int, offset: int = 0, multiplier: int = 1
) -> float:
    """Bytes per second of what is asked for: `chunks` of so many words each."""
    program = programs.gather(programs.GATHER_BLOCKS * instrument.spec.sm_count)
    scalars = {
        "chunks": chunks,
        "pitch": pitch,
        "offset": offset,
        "multiplier": multiplier,
        "log2_words": words.bit_length() - 1,
    }
    instrument.launch(program, scalars)
    warps = program.launch.blocks * THREADS // 32
    found = int(instrument.download("sums", np.uint32, warps).sum(dtype=np.uint64))
    expected = words * pitch * sum_of_words(chunks) + chunks * sum_of_words(words, offset)
    check_result(program, wrapped(found), wrapped(expected))
    return chunks * words * WORD_BYTES / instrument.seconds(program, scalars)
