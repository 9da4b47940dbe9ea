"""conv2d_input: the gradient of a conv2d by its images."""
