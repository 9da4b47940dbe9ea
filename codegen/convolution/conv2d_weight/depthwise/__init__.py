"""The kernel of conv2d_weight for channels that are groups of their own."""
