"""letterbox by filters that are as wide as a pixel of the target."""
