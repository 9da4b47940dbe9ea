"""What users would call instead of scan."""

from __future__ import annotations

from collections.abc import Mapping

from ...baselines import TorchCall

BASELINES: Mapping[str, TorchCall | str] = {}
