"""The docs name files and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import autotune

ROOT = Path(autotune.__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
FOLDERS = "autotune|benchmarks|codegen|db|docs|examples|search_spaces|tests"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    text = page.read_text()
    # A path in capitals, such as NNNN.sql, stands for many.
    paths = [ROOT / path for path in re.findall(rf"`((?:{FOLDERS})/[a-z0-9_./-]*)`", text)]
    links = [page.parent / link for link in re.findall(r"\]\((?!https?:)([^)#]+)", text)]
    assert [path for path in (*paths, *links) if not path.exists()] == []
