"""Boxes in pixels of the pictures that a target was made of."""
