"""Devices: what verifies and times a compiled kernel (a CUDA GPU, or a named GPU that is not here)."""
