"""Baselines of matrix products that take more than a call of PyTorch."""
