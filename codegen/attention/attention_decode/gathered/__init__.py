"""Decoding chunks of prompts by attention of packed sequences, whose keys are gathered from pages first."""
