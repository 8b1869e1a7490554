"""The driver's default answers to requests of the subject; a scenario may override them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from assay.model.error import METHOD_NOT_FOUND

Responder = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Maps the parameters of a request to `{"result": …}`, `{"error": …}` or None for no answer."""

SAMPLED: Final = {
    "role": "assistant",
    "model": "assay-lab",
    "stopReason": "endTurn",
    "content": {"type": "text", "text": "sampled by the lab"},
}
USUAL: Final[Mapping[str, dict[str, Any]]] = MappingProxyType(
    {
        "ping": {},
        "roots/list": {"roots": []},
        "sampling/createMessage": SAMPLED,
        "elicitation/create": {"action": "decline"},
    }
)


def usual_answer(method: str) -> dict[str, Any]:
    if method in USUAL:
        return {"result": USUAL[method]}
    return {"error": {"code": METHOD_NOT_FOUND, "message": f"the driver does not answer {method}"}}
