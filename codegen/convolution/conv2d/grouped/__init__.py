"""The kernel of conv2d for groups whose few filters are more or fewer than their channels."""
