"""A step of a beam search."""
