"""gemm: D = activation(alpha·op(A)·op(B) + bias) + beta·C by tensor cores."""
