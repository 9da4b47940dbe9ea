"""What an operator states: its kernels, search spaces, calls and gradients."""
