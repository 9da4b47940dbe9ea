"""Philox4x32-10 in NumPy, as cuda/philox.cuh computes it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW, _WORD = np.uint64(0xFFFFFFFF), np.uint64(32)


def philox(counter: npt.NDArray[np.uint32], key: tuple[int, int]) -> npt.NDArray[np.uint32]:
    """The four words of each counter, which are the last axis of `counter`, by a key of two words."""
    words = [word.astype(np.uint64) for word in np.moveaxis(counter, -1, 0)]
    for step in range(10):
        keys = [np.uint64((word + step * bump) % 2**32) for word, bump in zip(key, _KEY_STEPS, strict=True)]
        first, second = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = [
            second >> _WORD ^ words[1] ^ keys[0],
            second & _LOW,
            first >> _WORD ^ words[3] ^ keys[1],
            first & _LOW,
        ]
    return np.stack(words, axis=-1).astype(np.uint32)


def random_words(count: int, seed: int, offset: int) -> npt.NDArray[np.uint32]:
    """A word for each of so many elements: word i mod 4 of the counter (i div 4, offset), by the seed."""
    quads = np.arange(-(-count // 4), dtype=np.uint64)
    counter = np.empty((len(quads), 4), np.uint32)
    counter[:, 0], counter[:, 1] = quads & _LOW, quads >> _WORD
    counter[:, 2], counter[:, 3] = offset % 2**32, offset >> 32
    return philox(counter, (seed % 2**32, seed >> 32)).reshape(-1)[:count]
