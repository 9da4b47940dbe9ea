"""Kernels that users bring: any CUDA source with macros, tuned, stored and served as the operators of this package."""
