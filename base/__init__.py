"""Helpers that know nothing of kernels: files, the cache, errors, processes."""
