"""The kernel with a cluster of blocks for each row, whose keys are in registers."""
