"""Operators on what precedes each element: scans."""
