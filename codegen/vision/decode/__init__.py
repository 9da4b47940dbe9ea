"""Boxes of what a detector gives."""
