"""topk: the k largest or smallest elements of each row, and their columns."""
