"""Decoding by the tensor cores of warps (mma.sync), for all devices."""
