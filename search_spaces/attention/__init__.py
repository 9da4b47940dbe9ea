"""Attention, and what belongs to it."""
