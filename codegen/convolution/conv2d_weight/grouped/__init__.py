"""The kernel of conv2d_weight for groups of few channels and few filters."""
