"""gemv: y = activation(alpha·W·x + bias) + beta·y for 1 to 16 vectors x, in FP32, BF16 or FP16."""
