"""Gradients of a convolution by its filters."""
