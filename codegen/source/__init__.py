"""How CUDA source is put together."""
