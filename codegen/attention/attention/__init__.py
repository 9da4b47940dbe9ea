"""Attention: softmax(Q·Kᵀ)·V of each head."""
