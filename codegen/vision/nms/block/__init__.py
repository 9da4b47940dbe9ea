"""nms by one block for each image."""
