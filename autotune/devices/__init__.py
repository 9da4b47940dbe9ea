"""Devices, which verify and time compiled kernels: CUDA GPUs, offline devices, and recordings."""
