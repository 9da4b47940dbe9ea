"""attention_merge: what two sets of keys make of the same queries, put together."""
