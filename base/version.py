"""The versions of installed packages."""

from importlib.metadata import PackageNotFoundError, version


def version_of(package: str) -> str | None:
    """As it is installed; None if it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def own_version() -> str:
    """That of autotune; ``unknown`` of a checkout that is only on the path."""
    return version_of("autotune") or "unknown"
