"""The kernel of conv2d for channels that are groups of their own, which goes down images."""
