"""The kernel whose blocks read rows once, and keep what passes a sampled floor."""
