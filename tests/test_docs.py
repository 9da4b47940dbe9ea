"""The docs name files and folders that exist, and say of every block of code what it is."""

import re

import pytest
from doc_pages import PAGES, ROOT, blocks

FOLDERS = "autotune|benchmarks|codegen|db|docs|examples|search_spaces|tests"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_paths_exist(page):
    text = page.read_text()
    # A path in capitals, such as NNNN.sql, stands for many.
    paths = [ROOT / path for path in re.findall(rf"`((?:{FOLDERS})/[a-z0-9_./-]*)`", text)]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    links = [page.parent / link for link in re.findall(r"\]\((?!https?:)([^)#]+)", prose)]
    assert [path for path in (*paths, *links) if not path.exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_block_of_code_names_its_language(page):
    unnamed = [str(block) for block in blocks(page) if not block.language]
    assert unnamed == [], "begin it with ```sh, ```python, ```sql or ```text, not by indenting it"
