"""Random values for large tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

# A prime, so that rows, columns and tiles of even 16 Mi elements still differ from one another.
PERIOD = 16_777_213


def repeated(draw: Callable[[int], npt.NDArray[Any]], count: int) -> npt.NDArray[Any]:
    """As many values as asked for, of which the first `PERIOD` are drawn and repeat: copying is ten times as fast."""
    return np.resize(draw(min(count, PERIOD)), count)
