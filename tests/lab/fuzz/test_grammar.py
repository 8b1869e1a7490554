"""The grammars: a case for any choices, the same for equal choices, and without effects."""

import json
import random

import pytest

from assay.lab.fuzz.choice import LENGTH, Choices
from assay.lab.fuzz.grammar_context import GrammarContext
from assay.lab.fuzz.wire_grammar import case
from assay.lab.harness.subject.facts import Facts, Permission
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

READS = {
    "name": "look",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {
        "type": "object",
        "properties": {
            "place": {"type": "string", "x-mcp-header": "Place"},
            "depth": {"type": "integer"},
        },
        "required": ["place"],
    },
}
HARMS = {"name": "Delete", "inputSchema": {"type": "object"}}
TRANSPORTS = (Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET)


def context_for(
    transport: Transport, revision: Revision, *, permission: Permission = Permission.READ_ONLY
) -> GrammarContext:
    facts = Facts(revision.date, tools=[READS, HARMS])
    return GrammarContext(transport, revision, facts, permission=permission)


def rows(count: int) -> list[bytes]:
    chance = random.Random(7)
    return [chance.randbytes(LENGTH) for _ in range(count)]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_choices_determine_the_case(transport: Transport, revision: Revision) -> None:
    context = context_for(transport, revision)
    for row in rows(200):
        generated = case(Choices(row), context)
        assert generated.steps
        assert generated == case(Choices(row), context)


def called(context: GrammarContext) -> set[str]:
    """The names of called tools, normalised as a lenient server may do it."""
    steps = [step for row in rows(2000) for step in case(Choices(row), context).steps if step.framed]
    names = set()
    for step in steps:
        try:
            message = json.loads(step.body)
            names.add(str(message["params"]["name"]).strip().casefold())
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return names


def test_tools_with_effects_are_not_called() -> None:
    names = called(context_for(Transport.STDIO, REVISIONS[0]))
    assert "look" in names
    assert "delete" not in names


def test_tools_with_effects_are_called_if_allowed() -> None:
    assert "delete" in called(context_for(Transport.STDIO, REVISIONS[0], permission=Permission.EFFECTS))


def test_no_choices_give_a_plain_request() -> None:
    context = context_for(Transport.STDIO, REVISIONS[0])
    (step,) = case(Choices(b""), context).steps
    assert json.loads(step.body) == {"jsonrpc": "2.0", "id": 101, "method": "ping", "params": {}}


def test_ids_are_not_used_twice_in_a_case() -> None:
    context = context_for(Transport.STDIO, REVISIONS[0])
    for row in rows(300):
        generated = case(Choices(row), context)
        ids = [json.loads(step.body)["id"] for step in generated.steps] if generated.together else []
        assert len(set(map(repr, ids))) == len(ids)
