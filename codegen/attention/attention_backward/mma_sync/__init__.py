"""The gradients of attention by the tensor cores of warps (mma.sync), for all devices."""
