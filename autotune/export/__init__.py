"""Tuned kernels for programs without Python: cubins, and C++ that chooses among them."""

from .agreement import agreement
from .bundle import Bundle, bundle_of
from .kernels import Kernels, kernels_of
from .trace import TraceError
from .write import write_bundle

__all__ = ["Bundle", "Kernels", "TraceError", "agreement", "bundle_of", "kernels_of", "write_bundle"]
