"""Bugs in CUDA and C++, by tokens. Some do not compile, which is no verdict on any test."""

import re
from collections.abc import Iterator

Edit = tuple[int, int, str]

_TOKEN = re.compile(
    r"(?P<skipped>//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'|^[ \t]*#(?:\\\n|[^\n])*)"
    r"|(?P<number>(?<![\w.])(?:0x[0-9a-fA-F]+|\d+)[uU]?[lL]{0,2}(?![\w.]))"
    r"|(?P<word>\w+)"
    r"|(?P<operator><<=|>>=|<=|>=|==|!=|&&|\|\||<<|>>|\+=|-=|\+\+|--|->|::|[-+*/%<>&|^!?])",
    re.M | re.S,
)
# Between blanks: brackets of templates and signs have none.
_BINARY = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=",
}  # fmt: skip
_WORDS = {
    "min": "max", "max": "min", "fminf": "fmaxf", "fmaxf": "fminf", "true": "false", "false": "true",
}  # fmt: skip
_STATEMENT = re.compile(
    r"(?<=[;{}\n])\n[ \t]+((?:if \([^\n;{}]*\) )?[\w:.\[\]*>()-][^\n{};]*(?:\n[^\n{};]*){0,2};)"
    r"(?=[ \t]*(?://|\n))"
)
_DECLARES = re.compile(
    r"(?:return|const|constexpr|using|static|struct|template|union|enum|extern|typedef|case|break|for|while|friend)\b"
    r"|[\w:<>]+[*&]? [*&]*\w+(?:\[[^\]]*\])*(?: =|;|,|\{)"
)
_VALUE = re.compile(r"(?<=\w )\w+ = ([^{};=\n][^{};=]*)(?=;)")
_ARGUMENTS = re.compile(r"(?<=\w\()([^(),{};\n]+), ([^(),{};\n]+)(?=[,)])")


def edits(text: str) -> Iterator[Edit]:
    """All of a text: by tokens first, then dropped statements and values, and swapped arguments."""
    skipped = []
    for token in _TOKEN.finditer(text):
        begin, end = token.span()
        if token["skipped"]:
            skipped.append((begin, end))
        elif token["number"]:
            digits = token[0].rstrip("uUlL")
            if not digits.startswith("0x"):
                yield begin, end, f"{int(digits) + 1}{token[0][len(digits) :]}"
        elif token["word"]:
            if token[0] in _WORDS and (token[0][0] in "tf" or text[end : end + 1] == "("):
                yield begin, end, _WORDS[token[0]]
        elif text[begin - 1 : begin] == text[end : end + 1] == " ":
            if token[0] in _BINARY:
                yield begin, end, _BINARY[token[0]]
        elif token[0] in "-!" and re.match(r"\w|\(", text[end : end + 1]) and not text[begin - 1].isalnum():
            yield begin, end, ""
    for pattern, instead in ((_STATEMENT, _dropped), (_VALUE, _empty), (_ARGUMENTS, _swapped)):
        for match in pattern.finditer(text):
            place = match.start(1)
            if not any(begin <= place < end for begin, end in skipped):
                yield from instead(match)


def _dropped(match: re.Match[str]) -> Iterator[Edit]:
    if not _DECLARES.match(match[1]):
        yield *match.span(1), ";"


def _empty(match: re.Match[str]) -> Iterator[Edit]:
    yield *match.span(1), "{}"


def _swapped(match: re.Match[str]) -> Iterator[Edit]:
    """Two words in a row are a type and a parameter."""
    if match[1] != match[2] and not re.search(r"[\w>&*] \w+$", f"{match[1]}") and not re.search(r"^\w+ \w+", match[2]):
        yield match.start(1), match.end(2), f"{match[2]}, {match[1]}"
