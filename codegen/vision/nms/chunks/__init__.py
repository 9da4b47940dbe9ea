"""nms by many blocks, one chunk of sorted boxes after the other."""
