"""The kernel of conv2d for groups of few channels by tensor cores, to which rows of images are copied."""
