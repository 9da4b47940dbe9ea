"""Boxes that are kept, of those that overlap each other."""
