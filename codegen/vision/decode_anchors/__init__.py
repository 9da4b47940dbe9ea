"""Boxes of what a detector with anchors gives; kernels are those of decode."""
