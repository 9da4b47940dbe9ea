"""The docs name files and folders that exist, and say of every block of code what it is."""

import json
import re
from itertools import cycle, product

import pytest
from doc_pages import PAGES, ROOT, blocks

from autotune.search_spaces.contract.registry import OPERATORS, operator

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


def test_the_table_of_suites_has_each_with_its_number_of_problems():
    row = r"^\| ([a-z0-9_, ]+) \| (`[a-z_`, ]+) \| (\d+(?:, \d+)*(?: and \d+)?)"
    stated = {}
    for operators, suites, counts in re.findall(row, (ROOT / "docs" / "benchmarks.md").read_text(), re.MULTILINE):
        named = product(operators.split(", "), re.findall(r"\w+", suites))
        stated |= dict(zip(named, cycle(map(int, re.findall(r"\d+", counts)))))
    found = {
        (name, suite): len(json.loads(path.read_text()))
        for name in OPERATORS
        for suite, path in operator(name).suites.items()
    }
    assert stated == found
