"""What users would call instead of attention_varlen."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.search_spaces.attention.attention.baselines import FA3
from autotune.search_spaces.contract.baselines import TorchCall

BASELINES: Mapping[str, TorchCall | str] = {"fa3": FA3}
