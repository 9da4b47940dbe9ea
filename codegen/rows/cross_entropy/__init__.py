"""cross_entropy and cross_entropy_backward: the loss of rows of logits, and its gradient."""
