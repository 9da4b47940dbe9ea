"""The one place that knows where compiled kernels are cached."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder(name: str) -> Path:
    """The cache's folder of that name, made if missing; ``AUTOTUNE_CACHE`` moves the whole cache."""
    root = Path(os.environ.get("AUTOTUNE_CACHE") or platformdirs.user_cache_dir("autotune", appauthor=False))
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
