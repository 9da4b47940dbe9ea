"""Boxes that are kept of what a detector gives: decode and nms as one program."""
