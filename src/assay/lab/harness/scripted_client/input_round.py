"""Questions that come as a result, and are answered by asking again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.lab.harness.scripted_server.answer import Refused
from assay.revisions.revision import Asking

from .failure import Failed

if TYPE_CHECKING:
    from .client import ScriptedClient

Json = dict[str, Any]


def asks(client: ScriptedClient, result: Json) -> bool:
    return client.revision.asking is Asking.BY_RETRY and result.get("resultType") == "input_required"


async def respond(client: ScriptedClient, result: Json) -> Json:
    """What the next request holds besides: an answer for each question, and the state as it was given.

    Raises:
        Failed: the client has no answer to a question.
    """
    asked = result.get("inputRequests")
    given: Json = {}
    for key, question in (asked if isinstance(asked, dict) else {}).items():
        given[key] = await _answered(client, question)
    more: Json = {"inputResponses": given} if given else {}
    if "requestState" in result and client.behaviour.echoes_state:
        more["requestState"] = result["requestState"]
    return more


async def _answered(client: ScriptedClient, question: Any) -> Json:
    about = question if isinstance(question, dict) else {}
    params = about.get("params")
    try:
        return await client.answers.answer(
            str(about.get("method")), params if isinstance(params, dict) else {}
        )
    except Refused as refused:
        raise Failed(f"no answer to {about.get('method')}: {refused.error['message']}") from None
