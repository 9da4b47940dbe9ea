"""The baselines of each operator, by the names that users type."""

from __future__ import annotations

from collections.abc import Mapping

from .baseline import Baseline
from .cublas import CUBLAS
from .cublaslt import CUBLASLT
from .device_copy import COPY
from .triton_baseline import TRITON

BASELINES: Mapping[str, Mapping[str, Baseline]] = {
    "sgemm": {"cublas": CUBLAS, "cublaslt": CUBLASLT, "triton": TRITON},
    "transpose": {"copy": COPY},
}
