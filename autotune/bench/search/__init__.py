"""Comparing searches on recordings: how many evaluations each needs to come near the recorded optimum."""

from .compare import MARGINS, Comparison, Found, compare
from .searchers import SEARCHERS, missing

__all__ = ["MARGINS", "SEARCHERS", "Comparison", "Found", "compare", "missing"]
