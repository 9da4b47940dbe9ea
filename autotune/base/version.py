"""The version of autotune."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """As it is installed; ``unknown`` of a checkout that is only on the path."""
    try:
        return version("autotune")
    except PackageNotFoundError:
        return "unknown"
