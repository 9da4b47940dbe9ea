"""The kernel of conv2d for groups of few channels by tensor cores, which goes down images."""
