"""letterbox by warps that copy the rows of a picture that they need to shared memory."""
