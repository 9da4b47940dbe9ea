"""The kernel of conv2d_weight by FFMAs."""
