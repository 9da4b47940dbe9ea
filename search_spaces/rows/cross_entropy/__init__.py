"""cross_entropy and cross_entropy_backward, as the rest of the project knows them: an operator for each module."""
