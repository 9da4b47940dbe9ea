"""rope: rotary position embeddings of queries and keys, by a table or by computed angles."""
