"""The page as a file."""

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path

import pytest
from pages import report_of

from autotune.report import page as page_module
from autotune.report.page import AssetError, page


def test_the_page_needs_nothing_else(ten: str) -> None:
    assert len(ten.encode()) < 2e6
    ours = ten.replace(page_module._echarts(), "")
    assert re.findall(r"https?:|src=|href=|@import|url\(", ours) == []


def test_the_document_is_in_the_page() -> None:
    document = report_of(10)
    found = re.search(r'<script id="data" type="application/gzip">\n(.*?)\n</script>', page(document))
    assert found
    assert json.loads(gzip.decompress(b64decode(found[1]))) == json.loads(json.dumps(document))


def test_the_title_is_text(ten: str) -> None:
    assert "<title>transpose &lt;10&gt;</title>" in ten


def test_all_scripts_are_in_the_page() -> None:
    present = {path.stem for path in page_module._ASSETS.glob("*.js")}
    assert present == set(page_module._SCRIPTS)


def test_a_changed_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "echarts.min.js"
    monkeypatch.setattr(page_module, "_ECHARTS", path)
    for content in (None, "alert(1)"):
        if content:
            path.write_text(content)
        with pytest.raises(AssetError, match=r"echarts.min.js is missing or was changed: install autotune again"):
            page(report_of(10))


def test_licences_are_beside_the_library() -> None:
    names = {path.name for path in page_module._ECHARTS.parent.iterdir()}
    assert names == {"echarts.min.js", "LICENSE.txt", "LICENSE-d3.txt", "LICENSE-zrender.txt", "NOTICE.txt"}
