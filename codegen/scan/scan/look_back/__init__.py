"""Scans by blocks that look back at the tiles before their own."""
