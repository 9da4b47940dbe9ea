"""The kernel of conv2d for groups of few channels, which goes down images."""
