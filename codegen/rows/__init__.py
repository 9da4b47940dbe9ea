"""Operators over the rows of a matrix, and the skeleton that they share."""
