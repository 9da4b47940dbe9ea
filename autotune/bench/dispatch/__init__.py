"""What the dispatcher costs: a call, the first call, and the loss on problems that were not tuned."""
