"""The blocks of a cluster find the token of a row."""
