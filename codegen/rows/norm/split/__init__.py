"""A norm of few long rows, each of which many blocks share."""
