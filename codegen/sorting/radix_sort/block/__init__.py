"""A block sorts a row, which it keeps until the row is sorted."""
