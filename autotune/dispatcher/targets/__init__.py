"""Where kernels run."""
