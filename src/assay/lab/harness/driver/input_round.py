"""Requests that the subject answers only after it has asked the client for input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .mirrored_header import param_headers
from .peer import Peer, Reply

ROUNDS: Final = 8
"""Retries of one request; a check reports a subject that never stops asking."""


async def converse(peer: Peer, method: str, params: dict[str, Any], **options: Any) -> Reply:
    """Send a request, and retry it with the driver's answers as long as the result is `input_required`.

    In revisions where the subject asks with requests, the peer answers those as they arrive.
    """
    reply = await peer.request(method, params, **options)
    for _ in range(ROUNDS):
        if reply.result.get("resultType") != "input_required":
            break
        reply = await peer.request(method, {**params, **retry(peer, reply.result)}, **options)
    return reply


async def converse_with(peer: Peer, tool: Mapping[str, Any], arguments: dict[str, Any]) -> Reply:
    """Call a tool by its definition, as `converse` does."""
    headers = param_headers(dict(tool), arguments) if peer.revision.http.mirrored else {}
    return await converse(peer, "tools/call", {"name": tool["name"], "arguments": arguments}, headers=headers)


def retry(peer: Peer, result: dict[str, Any]) -> dict[str, Any]:
    """The extra parameters of a retry: the driver's answers, and the request state of the result."""
    responses: dict[str, Any] = {}
    requests = result.get("inputRequests")
    for key, question in requests.items() if isinstance(requests, dict) else ():
        fields = question if isinstance(question, dict) else {}
        answer = peer.answer_to(str(fields.get("method")), fields.get("params"))
        # A client can only report a failure by omitting the answer.
        if answer is not None and "result" in answer:
            responses[key] = answer["result"]
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return {"inputResponses": responses, **state}
