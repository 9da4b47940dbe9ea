"""The kernel of conv2d_input for images of few channels."""
