"""dropout: y = dropout(x + bias) + residual, by Philox random numbers that follow from seed, offset and index."""
