"""Random values for large tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

# A prime, and not close to a power of two: what is a power of two rows or columns apart still differs, and tiles that
# start at multiples of 16 are alike only 16 periods apart. So few numbers are drawn in hundredths of a second.
PERIOD = 1_000_003


def repeated(draw: Callable[[int], npt.NDArray[Any]], count: int) -> npt.NDArray[Any]:
    """As many values as asked for, of which the first `PERIOD` are drawn and repeat: copying is ten times as fast."""
    return np.resize(draw(min(count, PERIOD)), count)
