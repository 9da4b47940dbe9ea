"""The kernel with a warp for each row, whose keys are in registers."""
