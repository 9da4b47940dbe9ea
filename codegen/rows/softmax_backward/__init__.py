"""softmax_backward: the gradient of softmax and log-softmax."""
