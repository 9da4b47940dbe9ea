"""Merges two sorted arrays."""
