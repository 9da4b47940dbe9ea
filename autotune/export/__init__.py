"""Tuned sgemm kernels for programs without Python: cubins, and in C++ the rule that chooses among them."""

from .bundle import Bundle, Exported, bundle_of
from .write import write_bundle

__all__ = ["Bundle", "Exported", "bundle_of", "write_bundle"]
