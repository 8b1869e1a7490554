"""What a user fills in is used as it comes."""

from __future__ import annotations

from assay.lab.harness.driver.question import answers_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


def reply(reply: Json, context: FaultContext) -> Json:
    content = context.memory.pop("content", None)
    if content is None or "method" in reply or not _is_refusal(reply):
        return reply
    text = ", ".join(f"{name}: {value}" for name, value in content.items())
    result = {"content": [{"type": "text", "text": f"Noted: {text}"}], "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


def _is_refusal(reply: Json) -> bool:
    result = reply.get("result", {})
    return "error" in reply or bool(result.get("isError")) or "inputRequests" in result


@on_request("an answer that does not fit the form is used", breaks="EL-15", reply=reply)
def change(message: Json, context: FaultContext) -> Json:
    for answer in answers_in(message):
        if answer.get("content"):
            context.memory["content"] = answer["content"]
    return message
