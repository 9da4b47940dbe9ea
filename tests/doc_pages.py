"""The pages that people read, and the blocks of code in them."""

from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        page: its file's name.
        line: where its first line of code is, counted from 1.
        language: the word after the fence, such as ``sh``; empty without one.
        code: its lines.
    """

    page: str
    line: int
    language: str
    code: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks(page):
    """The blocks of a page; an indented one has no language."""
    return [
        Block(page.name, token.map[0] + (2 if token.type == "fence" else 1), token.info.strip(), token.content)
        for token in MarkdownIt().parse(page.read_text())
        if token.type in ("fence", "code_block") and token.map
    ]
