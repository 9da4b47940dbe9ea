"""The kernel of conv2d by wgmma for few channels, which takes a row of taps as one."""
