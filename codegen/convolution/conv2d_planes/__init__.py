"""conv2d_planes: convolutions of images whose channels are planes (NCHW)."""
