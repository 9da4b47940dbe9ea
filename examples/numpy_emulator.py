"""Multiply NumPy arrays without a GPU: the kernel that a GPU would run, in the CPU emulator."""

import numpy as np

from autotune import dispatcher

random = np.random.default_rng(0)
a = random.standard_normal((100, 60), np.float32)
b = random.standard_normal((80, 60), np.float32)

c = dispatcher.sgemm(a, b.T)  # a transposed view costs no copy
print("largest error:", np.abs(c - a.astype(np.float64) @ b.T).max())

dispatcher.sgemm(a, b.T, out=c, alpha=0.5, beta=0.5)  # c = 0.5·a·bᵀ + 0.5·c, which is c again
print("largest error:", np.abs(c - a.astype(np.float64) @ b.T).max())
