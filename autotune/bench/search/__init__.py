"""Comparing searches on recordings: how many evaluations each needs to come near the recorded optimum."""

from .compare import MARGINS, Found, SearchResult, compare_searches
from .searchers import SEARCHERS, missing

__all__ = ["MARGINS", "SEARCHERS", "Found", "SearchResult", "compare_searches", "missing"]
