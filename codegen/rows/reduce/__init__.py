"""reduce: the sum, the maximum or its index, over all elements of a matrix, along its rows or along its columns."""
