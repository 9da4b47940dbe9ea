"""transpose: B[batch][n][m] = A[batch][m][n] for elements of 1, 2, 4, 8 or 16 bytes."""
