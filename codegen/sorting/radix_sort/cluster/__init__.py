"""The blocks of a cluster sort a row, which they keep until it is sorted."""
