"""Attention by fused multiply-adds, for all dimensions, alignments and devices."""
