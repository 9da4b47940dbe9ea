"""causal_conv1d: what it computes, and its kernel."""
