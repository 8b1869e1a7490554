"""Images, sounds and resources in prompts are encoded and named as they must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.content_block import is_base64, is_mime_type, is_uri
from assay.lab.suite.prompt_get import PromptGet, prompt_gets


@check("Images, audio and resources in prompts are well encoded", rows=("PR-05", "PR-06", "PR-07"))
def judge(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        for message in get.exchange.objects("messages"):
            block = message.get("content")
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(block, dict) and isinstance(kind, str) and kind in _KINDS:
                row, expected, problem_of = _KINDS[kind]
                problem = problem_of(block, get)
                yield observe(row, problem is None, get, expected=expected, observed=problem)


def _media(block: dict[str, Any], get: PromptGet) -> str | None:
    if not is_base64(block.get("data")):
        return f"data that is no base64: {str(block.get('data'))[:40]!r}"
    if not is_mime_type(block.get("mimeType")):
        return f"mimeType {block.get('mimeType')!r}"
    return None


def _resource(block: dict[str, Any], get: PromptGet) -> str | None:
    resource = block.get("resource")
    if not isinstance(resource, dict):
        return f"resource {resource!r}"
    uri = resource.get("uri")
    # What the driver itself wanted there is not the server's word.
    if not is_uri(uri) and uri not in get.given.values():
        return f"uri {uri!r}"
    if not is_mime_type(resource.get("mimeType")):
        return f"mimeType {resource.get('mimeType')!r}"
    if isinstance(resource.get("text"), str) or is_base64(resource.get("blob")):
        return None
    return "neither text nor a base64 blob"


_MEDIA: Final = "base64 data with a valid MIME type"
_KINDS: Final[dict[str, tuple[str, str, Callable[[dict[str, Any], PromptGet], str | None]]]] = {
    "image": ("PR-05", _MEDIA, _media),
    "audio": ("PR-06", _MEDIA, _media),
    "resource": ("PR-07", "a valid URI, a MIME type, and text or a base64 blob", _resource),
}
