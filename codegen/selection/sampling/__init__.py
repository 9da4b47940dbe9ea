"""sampling: a token of each row of logits, drawn among the most probable ones."""
