"""Saboteurs meet more than their own scenario, as when somebody else's suite is tried on them: what they do
not understand, they leave alone."""

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
    """What a healthy server may say, and what it was asked before that."""
    for asked in requests():
        if "id" in asked and "method" in asked:
            yield {"jsonrpc": "2.0", "id": 1, "error": ERROR}, asked
    for said in (
        {"id": None, "error": ERROR},
        {"method": "notifications/tools/list_changed"},
        {"id": 7, "method": "ping"},
        {"id": 7, "method": "roots/list"},
    ):
        yield {"jsonrpc": "2.0", **said}, None


def saboteurs() -> list[Saboteur]:
    return [one for name in ("protocol", "everything") for one in suite_named(name).saboteurs.values()]


def turns(saboteur: Saboteur) -> Callable[[Any], FaultContext]:
    """Turns at one place, by what was asked: a fault may remember the others."""
    revision = next(one for one in reversed(REVISIONS) if saboteur.window(one))
    memory: dict[str, Any] = {}
    return lambda asked: FaultContext(min(saboteur.transports), revision, asked=asked, memory=memory)


@pytest.mark.parametrize("saboteur", [one for one in saboteurs() if one.request], ids=lambda one: one.id)
def test_requests_that_say_nothing_are_survived(saboteur: Saboteur) -> None:
    assert saboteur.request is not None
    turn_of = turns(saboteur)
    for message in requests():
        saboteur.request(copy.deepcopy(message), turn_of(None))


@pytest.mark.parametrize("saboteur", [one for one in saboteurs() if one.reply], ids=lambda one: one.id)
def test_replies_without_a_result_are_survived(saboteur: Saboteur) -> None:
    assert saboteur.reply is not None
    turn_of = turns(saboteur)
    for reply, asked in replies():
        saboteur.reply(copy.deepcopy(reply), turn_of(asked))
