"""The kernels of conv2d by Winograd's minimal filtering: transforms around a batch of products."""
