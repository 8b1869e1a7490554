"""A request to its end, through all the questions that the subject has first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .mirrored_header import param_headers
from .peer import Peer, Reply

ROUNDS: Final = 8
"""Retries of one request: a subject that asks on is for a check to find."""


async def converse(peer: Peer, method: str, params: dict[str, Any], **options: Any) -> Reply:
    """Send a request, and again with the driver's answers for as long as they are wanted that way.

    Where the subject asks by requests of its own, the peer answers them as they come.
    """
    reply = await peer.request(method, params, **options)
    for _ in range(ROUNDS):
        if reply.result.get("resultType") != "input_required":
            break
        reply = await peer.request(method, {**params, **retry(peer, reply.result)}, **options)
    return reply


async def converse_with(peer: Peer, tool: Mapping[str, Any], arguments: dict[str, Any]) -> Reply:
    """The same for a call of a tool by its definition."""
    headers = param_headers(dict(tool), arguments) if peer.revision.http.mirrored else {}
    return await converse(peer, "tools/call", {"name": tool["name"], "arguments": arguments}, headers=headers)


def retry(peer: Peer, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a request is sent again with: the driver's answers, and the state that came with the questions."""
    given: dict[str, Any] = {}
    asked = wanted.get("inputRequests")
    for key, question in asked.items() if isinstance(asked, dict) else ():
        about = question if isinstance(question, dict) else {}
        answer = peer.answer_to(str(about.get("method")), about.get("params"))
        # A client has no way to say that it failed, except to leave an answer out.
        if answer is not None and "result" in answer:
            given[key] = answer["result"]
    state = {"requestState": wanted["requestState"]} if "requestState" in wanted else {}
    return {"inputResponses": given, **state}
