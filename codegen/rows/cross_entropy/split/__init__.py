"""The loss of few long rows of logits, each of which many blocks share."""
