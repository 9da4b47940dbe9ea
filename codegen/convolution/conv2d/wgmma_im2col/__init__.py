"""The kernel of conv2d by wgmma."""
