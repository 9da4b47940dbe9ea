"""Accepts tokens that a draft proposed, and draws the next one."""
