"""softmax: y = softmax(x / temperature) of each row, in FP32, BF16 or FP16."""
