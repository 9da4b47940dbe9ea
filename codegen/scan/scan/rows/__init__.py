"""Scans of rows, each by threads of one block."""
