"""norm_backward: the gradients of rms_norm and layer_norm, those of their weights and biases included."""
