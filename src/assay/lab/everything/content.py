"""Problems of content blocks.

Fixtures need not return particular texts, but what a block declares must be true: data is Base64, and data
declared as PNG begins with the PNG signature.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.content_block import is_base64, is_mime_type, is_uri
from assay.lab.suite.evidence import answered

Block = dict[str, Any]
Problem = Callable[[Block], str | None]
_SIGNATURES: Final = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "audio/wav": re.compile(rb"RIFF.{4}WAVE", re.DOTALL),
}
"""Signatures of known formats; data of other formats only has to be Base64."""


def judge_content(trace: Trace, requirement: str, tool: str, **kinds: Problem) -> Iterator[Observation]:
    """The result of a tool has valid blocks of each of these types."""
    for exchange in answered(trace, "tools/call", name=tool):
        problem = call_problem(exchange) or blocks_problem(exchange.objects("content"), kinds)
        expected = f"a result whose content has {', '.join(kinds)}"
        yield observe(requirement, problem is None, exchange, expected=expected, observed=problem)


def call_problem(exchange: Exchange) -> str | None:
    """Why a call of a tool did not succeed."""
    if exchange.result is None:
        return str(exchange)
    return "a result with `isError`" if exchange.result.get("isError") else None


def blocks_problem(blocks: Sequence[Block], kinds: Mapping[str, Problem]) -> str | None:
    for kind, problem_of in kinds.items():
        matching = [block for block in blocks if block.get("type") == kind]
        if not matching:
            types = ", ".join(repr(block.get("type")) for block in blocks)
            return f"no block of type {kind} among: {types or 'none'}"
        for block in matching:
            if problem := problem_of(block):
                return problem
    return None


def text_problem(block: Block) -> str | None:
    text = block.get("text")
    return None if isinstance(text, str) and text.strip() else f"the text {text!r}"


def image_problem(block: Block) -> str | None:
    return data_problem("data", block)


def wav_problem(block: Block) -> str | None:
    kind = block.get("mimeType")
    return data_problem("data", block) if kind == "audio/wav" else f"audio of mimeType {kind!r}"


def resource_problem(block: Block) -> str | None:
    """An embedded resource has a URI, a type and contents."""
    resource = block.get("resource")
    return contents_problem(resource) if isinstance(resource, dict) else "a block without `resource`"


def contents_problem(resource: Block) -> str | None:
    if not is_uri(resource.get("uri")):
        return f"the uri {resource.get('uri')!r}"
    if not is_mime_type(resource.get("mimeType")):
        return f"the mimeType {resource.get('mimeType')!r}"
    return data_problem("blob", resource) if "blob" in resource else text_problem(resource)


def data_problem(key: str, block: Block) -> str | None:
    """Data is Base64, not empty, and of the declared `mimeType`."""
    data, kind = block.get(key), block.get("mimeType")
    if not isinstance(data, str) or not data or not is_base64(data):
        return f"`{key}` that is not Base64: {repr(data)[:40]}"
    if not is_mime_type(kind):
        return f"the mimeType {kind!r}"
    signature = _SIGNATURES.get(str(kind).lower())
    decoded = b64decode(data)
    if signature is not None and not signature.match(decoded):
        return f"data declared as {kind} that begins with {decoded[:12]!r}"
    return None
