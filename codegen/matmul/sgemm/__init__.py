"""sgemm: C = alpha·op(A)·op(B) + beta·C in FP32, row-major, batched by strides."""
