"""The kernel of conv2d by wgmma for pixels that are no whole units of 16 bytes, which takes a row of taps as one."""
