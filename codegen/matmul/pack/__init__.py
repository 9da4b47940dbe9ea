"""pack: weights as numbers → codes, scales and zero points, as gemv reads them."""
