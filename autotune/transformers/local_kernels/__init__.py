"""A repository of layers on disk, as the package kernels of Hugging Face loads it: see `autotune.transformers.hub`."""

from autotune.transformers import layers

__all__ = ["layers"]
