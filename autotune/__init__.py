"""Generates CUDA kernels from schedules, finds the fastest for a device, remembers it and serves it at run time."""
