"""The kernel of conv2d by mma.sync."""
