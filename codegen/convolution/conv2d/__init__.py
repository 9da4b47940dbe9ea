"""conv2d: what it computes, and its kernels."""
