"""Decoding with latent keys by wgmma."""
