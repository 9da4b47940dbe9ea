"""Decoding by fused multiply-adds, for all devices."""
