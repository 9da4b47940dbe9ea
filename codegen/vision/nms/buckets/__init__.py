"""nms by a cluster of blocks for the boxes of each class."""
