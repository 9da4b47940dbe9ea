"""conv3d: convolutions of images with a depth, by the kernels of conv2d."""
