"""Results of type `input_required`, which the client answers by sending the request again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.lab.harness.scripted_server.answer import AnswerError
from assay.revisions.revision import Asking

from .failure import StepFailed

if TYPE_CHECKING:
    from .client import ScriptedClient

Json = dict[str, Any]


def needs_input(client: ScriptedClient, result: Json) -> bool:
    return client.revision.asking is Asking.BY_RETRY and result.get("resultType") == "input_required"


async def respond(client: ScriptedClient, result: Json) -> Json:
    """The params to add to the next request: a response for each input request, and the state.

    Raises:
        StepFailed: the client cannot answer an input request.
    """
    requests = result.get("inputRequests")
    responses: Json = {}
    for key, request in (requests if isinstance(requests, dict) else {}).items():
        responses[key] = await _response(client, request)
    params: Json = {"inputResponses": responses} if responses else {}
    if "requestState" in result and client.behaviour.echoes_state:
        params["requestState"] = result["requestState"]
    return params


async def _response(client: ScriptedClient, request: Any) -> Json:
    request = request if isinstance(request, dict) else {}
    method, params = str(request.get("method")), request.get("params")
    try:
        return await client.answers.answer(method, params if isinstance(params, dict) else {})
    except AnswerError as refused:
        raise StepFailed(f"no answer to {method}: {refused.error['message']}") from None
