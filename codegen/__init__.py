"""Schedule → CUDA source. Pure Python and .cuh files: no device, no database."""
