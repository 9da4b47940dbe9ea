"""Baselines of scans."""
