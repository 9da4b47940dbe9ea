"""``python -m autotune`` is the command ``autotune``."""

from .cli import main

main()
