"""From a call to a launch."""
