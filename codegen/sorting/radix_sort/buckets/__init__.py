"""A pass by the highest digit, and a block for the keys with each."""
