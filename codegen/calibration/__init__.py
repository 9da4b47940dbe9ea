"""Kernels that measure what a device can do: its memories, its arithmetic units, its latencies."""
