"""Tuned kernels for programs without Python: cubins, and in C++ the rule that chooses among them."""

from .bundle import Bundle, bundle_of
from .expressions import TraceError
from .kernels import Kernels, kernels_of
from .write import write_bundle

__all__ = ["Bundle", "Kernels", "TraceError", "bundle_of", "kernels_of", "write_bundle"]
