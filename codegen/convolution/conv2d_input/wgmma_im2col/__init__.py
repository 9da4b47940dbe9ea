"""The kernel of conv2d_input by wgmma."""
