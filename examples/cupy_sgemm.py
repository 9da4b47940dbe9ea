"""Multiply a batch of CuPy arrays by one matrix, into an array that is there already."""

import cupy

from autotune import dispatcher

a = cupy.random.standard_normal((8, 256, 512), cupy.float32)
b = cupy.random.standard_normal((512, 384), cupy.float32)
out = cupy.empty((8, 256, 384), cupy.float32)

dispatcher.sgemm(a, b, out=out)  # b is broadcast, not copied
print("largest difference:", float(abs(out - a @ b).max()))
