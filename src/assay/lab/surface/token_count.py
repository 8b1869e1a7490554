"""How many tokens definitions cost: counted by a tokenizer if one is installed, else estimated.

No tokenizer of the large models can be had without its vocabulary of several megabytes. `rs_bpe`, from the
extra `lint`, brings that of OpenAI's o200k_base along. Other models count differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import msgspec
from msgspec import Struct

EXACT: Final = "o200k_base (rs_bpe)"
ESTIMATE: Final = "estimate by words and punctuation"
LETTERS: Final = 12
"""Letters of a word that one token covers, at most."""
SCALE: Final = 0.92
"""Measured on the tools of public servers by `scripts.token_estimate`."""
_PIECE: Final = re.compile(r"[A-Za-z]+|[0-9]{1,3}|\s+|[^\sA-Za-z0-9]+")
_PUNCTUATION: Final = 3
"""Characters of JSON punctuation that one token covers."""


class Tokenizer(Struct, frozen=True):
    name: str
    count: Callable[[str], int]
    is_exact: bool


def tokenizer() -> Tokenizer:
    """The best that is installed."""
    if find_spec("rs_bpe") is None:
        return Tokenizer(ESTIMATE, estimated, is_exact=False)
    openai: Any = import_module("rs_bpe.bpe").openai

    return Tokenizer(EXACT, openai.o200k_base().count, is_exact=True)


def estimated(text: str) -> int:
    """About the tokens of o200k_base. docs/lint.md states the error on real definitions."""
    return round(SCALE * sum(map(_piece, _PIECE.findall(text))))


def _piece(piece: str) -> int:
    if piece.isspace():
        return 1 if len(piece) > 1 or piece == "\n" else 0  # a single space belongs to the next word
    if piece[0].isascii() and piece[0].isalpha():
        return -(-len(piece) // LETTERS) + (1 if any(map(str.isupper, piece[1:])) else 0)
    if piece[0].isdigit():
        return 1
    wide = sum(not character.isascii() for character in piece)
    return -(-(len(piece) - wide) // _PUNCTUATION) + wide


def as_sent(tool: dict[str, Any]) -> str:
    """A tool as hosts send it to a model: name, description and input schema as JSON. Annotations and output
    schemas stay with the host."""
    fields = {
        "name": tool.get("name"),
        "description": tool.get("description"),
        "input_schema": tool.get("inputSchema"),
    }
    return msgspec.json.encode({key: value for key, value in fields.items() if value is not None}).decode()
