"""causal_conv1d_update: what it computes, and its kernel."""
