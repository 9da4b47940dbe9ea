"""Scans by blocks that stay, whose tiles are loaded and stored by bulk copies."""
