"""Saboteurs ignore messages from outside their scenario, such as those of another suite."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, Saboteur
from assay.lab.suites import suite_named
from assay.revisions.registry import REVISIONS

METHODS = (
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "no/such",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "server/discover",
    "skills/get",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
)
NOTIFICATIONS = ("notifications/cancelled", "notifications/initialized", "notifications/roots/list_changed")
ODD: tuple[Json, ...] = (
    {},
    {"params": {}},
    {"params": []},
    {"params": "text"},
    {"params": {"name": 5, "arguments": None, "_meta": None}},
)
ERROR = {"code": -32601, "message": "no"}


def requests() -> Iterator[Json]:
    for odd in ODD:
        yield from ({"jsonrpc": "2.0", "id": 1, "method": method, **odd} for method in METHODS)
        yield from ({"jsonrpc": "2.0", "method": method, **odd} for method in NOTIFICATIONS)
    yield from ({"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": ERROR}, {})


def replies() -> Iterator[tuple[Json, Json | None]]:
    """Messages of a healthy server, with the request they answer."""
    for request in requests():
        if "id" in request and "method" in request:
            yield {"jsonrpc": "2.0", "id": 1, "error": ERROR}, request
    for message in (
        {"id": None, "error": ERROR},
        {"method": "notifications/tools/list_changed"},
        {"id": 7, "method": "ping"},
        {"id": 7, "method": "roots/list"},
    ):
        yield {"jsonrpc": "2.0", **message}, None


SABOTEURS = [
    saboteur for name in ("protocol", "everything") for saboteur in suite_named(name).saboteurs.values()
]


def contexts(saboteur: Saboteur) -> Callable[[Any], FaultContext]:
    """Contexts by request, with a common memory."""
    revision = next(revision for revision in reversed(REVISIONS) if saboteur.window(revision))
    memory: dict[str, Any] = {}
    return lambda request: FaultContext(min(saboteur.transports), revision, request=request, memory=memory)


@pytest.mark.parametrize("saboteur", [each for each in SABOTEURS if each.request], ids=lambda each: each.id)
def test_saboteur_survives_odd_requests(saboteur: Saboteur) -> None:
    assert saboteur.request is not None
    context_of = contexts(saboteur)
    for message in requests():
        saboteur.request(copy.deepcopy(message), context_of(None))


@pytest.mark.parametrize("saboteur", [each for each in SABOTEURS if each.reply], ids=lambda each: each.id)
def test_saboteur_survives_replies_without_a_result(saboteur: Saboteur) -> None:
    assert saboteur.reply is not None
    context_of = contexts(saboteur)
    for reply, request in replies():
        saboteur.reply(copy.deepcopy(reply), context_of(request))
