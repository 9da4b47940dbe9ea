"""The kernel of conv2d_planes for groups of one channel."""
