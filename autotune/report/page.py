"""The page: a document and all that draws it, in one file of HTML."""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from autotune.base.errors import AutotuneError

_ASSETS = Path(__file__).parent / "assets"
# Apache ECharts 6.1.0, dist/echarts.min.js of the npm package; its licences are beside it.
_ECHARTS = _ASSETS / "echarts" / "echarts.min.js"
_ECHARTS_SHA256 = "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"
# In the order in which they are loaded.
_SCRIPTS = (
    "data",
    "format",
    "theme",
    "elements",
    "charts",
    "convergence",
    "parameters",
    "importance",
    "pareto",
    "roofline",
    "calibration",
    "ratios",
    "failures",
    "profiles",
    "winner",
    "page",
)


class AssetError(AutotuneError, RuntimeError):
    """A file of this installation is not the one that was shipped; the message names it."""


def page(document: Mapping[str, Any]) -> str:
    """The HTML of a report; it needs no other file and no network.

    The document is compressed, as base64 in an element of its own, which the scripts unpack.

    Raises:
        AssetError: the charting library is missing or was changed.
    """
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, default=str, allow_nan=False)
    template = Template((_ASSETS / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(document["title"]),
        style=(_ASSETS / "page.css").read_text(encoding="utf-8"),
        echarts=_echarts(),
        script="\n".join((_ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS),
        data=b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
    )


def _echarts() -> str:
    content = _ECHARTS.read_bytes() if _ECHARTS.is_file() else b""
    if hashlib.sha256(content).hexdigest() != _ECHARTS_SHA256:
        raise AssetError(f"{_ECHARTS} is missing or was changed: install autotune again")
    return content.decode()
