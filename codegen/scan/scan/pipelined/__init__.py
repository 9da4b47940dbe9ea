"""Scans by blocks that stay, whose tiles are loaded by bulk copies."""
