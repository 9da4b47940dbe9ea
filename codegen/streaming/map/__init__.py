"""Element-wise functions, alone and fused with what they are usually followed by."""
