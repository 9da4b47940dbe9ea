"""The gradients of attention by warpgroups, which multiply what tensor copies bring (sm_90a)."""
