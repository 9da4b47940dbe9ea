"""attention_decode: attention of a few queries for each request, whose keys and values are in a cache."""
