"""What is fused to the results of an operator: activations, gated pairs, bias, residual, conversion."""
