"""Hugging Face's transformers by operators of this project.

Importing this package registers ``attn_implementation="autotune"`` for models of any kind that let their attention be
chosen. `patch` replaces the layers of a model, too, and `kernel_config` has the package kernels do so.
"""

from __future__ import annotations

from .attention import register
from .hub import kernel_config as kernel_config
from .patch import patch as patch
from .patch import unpatch as unpatch

register()
