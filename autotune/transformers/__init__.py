"""Hugging Face's transformers with attention of this project: ``attn_implementation="autotune"``.

Importing this package registers that name, for models of any kind that let their attention be chosen.
"""

from __future__ import annotations

from .attention import register

register()
