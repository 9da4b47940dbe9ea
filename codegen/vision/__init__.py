"""Operators between a camera and boxes: what detectors take, and what is made of what they give."""
