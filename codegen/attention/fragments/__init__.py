"""Fragments: how scores change, and which keys are seen, as small expressions that users write in Python."""
