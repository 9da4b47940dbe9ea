"""radix_sort, sort and argsort, as the rest of the project knows them: an operator for each module of their names."""
