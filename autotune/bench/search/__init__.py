"""Comparing searches: on recordings by evaluations until one is near the optimum, on measured spaces by a score."""

from .compare import MARGINS, Found, SearchResult, compare_searches
from .compare_spaces import SpaceResult, compare_spaces
from .measured_space import measured_spaces
from .searchers import SEARCHERS, missing
from .space_searchers import SPACE_SEARCHERS

__all__ = [
    "MARGINS",
    "SEARCHERS",
    "SPACE_SEARCHERS",
    "Found",
    "SearchResult",
    "SpaceResult",
    "compare_searches",
    "compare_spaces",
    "measured_spaces",
    "missing",
]
