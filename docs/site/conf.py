"""The site of the docs: the Markdown pages as they are, and API pages from docstrings. ``make site`` builds it."""

from __future__ import annotations

from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from autotune.dispatcher.calls.shorthand import shorthands
from autotune.search_spaces.contract.registry import OPERATORS

project = "autotune"
version = release = installed("autotune")
project_copyright = ""

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "docs/site/api/*.rst"]
exclude_patterns = [".*"]
root_doc = "README"

html_theme = "furo"
html_title = f"autotune {version}"
html_additional_pages = {"index": "index.html"}
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_show_search_summary = False  # a page that was opened from a file may not fetch what others say
templates_path = ["."]

highlight_language = "none"
myst_heading_anchors = 3

autodoc_member_order = "bysource"
maximum_signature_line_length = 100
autodoc_mock_imports = ["torch"]
autoclass_content = "both"
default_role = "literal"
napoleon_numpy_docstring = False
napoleon_attr_annotations = False
python_use_unqualified_type_names = True

# What the README's reader finds beside the pages; Markdown on GitHub has no such thing.
USE = [
    *("on-my-gpu", "tuning", "dispatcher", "serving", "command-line", "database", "report", "benchmarks", "recordings"),
    *("export", "transformers", "own-kernels"),
]
INSIDE = ["architecture", "adding-an-operator", "devices", "calibration", "emulator", "performance"]
NAVIGATION = {
    "Use": USE,
    "Operators": sorted({page.stem for page in Path(__file__).parents[1].glob("*.md")} - {*USE, *INSIDE}),
    "Inside": INSIDE,
    "API": [f"site/api/{name}" for name in ("autotune", "dispatcher", "torch", "db", "operators")],
    "Project": ["/CONTRIBUTING", "/CHANGELOG"],
}


def _extend(app: Sphinx, page: str, source: list[str]) -> None:
    """Give the README the navigation, and the dispatcher's page the operators that can be called."""
    if page == root_doc:
        for caption, pages in NAVIGATION.items():
            entries = "\n".join(name if name.startswith("/") else f"docs/{name}" for name in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"
    names = [name for name, operator in OPERATORS.items() if operator.call]
    names += [stated.__name__ for _, stated in shorthands()]
    source[0] = source[0].replace("|operators|", ", ".join(names))


def _parsable(*documented: Any) -> tuple[str | None, str | None]:
    """The signature without what is no Python: Sphinx shortens the types of those that it can parse."""
    *_, signature, returned = documented
    return signature and signature.replace("<factory>", "..."), returned


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _extend)
    app.connect("autodoc-process-signature", _parsable)
