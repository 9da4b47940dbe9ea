"""Settings of every test."""

from hypothesis import settings

# A busy machine is slow, which is no failure; and a failure must come again when the test is run again.
settings.register_profile("autotune", deadline=None, derandomize=True)
settings.load_profile("autotune")
