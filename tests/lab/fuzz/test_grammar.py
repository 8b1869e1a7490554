"""What the grammars make: always something, the same for the same choices, and never harm."""

import json
import random

import pytest

from assay.lab.fuzz.choice import LENGTH, Choices
from assay.lab.fuzz.ground import Ground
from assay.lab.fuzz.wire_grammar import case
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

READS = {
    "name": "look",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {
        "type": "object",
        "properties": {"place": {"type": "string", "x-mcp-header": "Place"}, "depth": {"type": "integer"}},
        "required": ["place"],
    },
}
HARMS = {"name": "Delete", "inputSchema": {"type": "object"}}
TRANSPORTS = (Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET)


def ground(transport: Transport, revision: Revision, *, effects: bool = False) -> Ground:
    return Ground(transport, revision, Facts(revision.date, tools=[READS, HARMS]), effects=effects)


def rows(count: int) -> list[bytes]:
    chance = random.Random(7)
    return [chance.randbytes(LENGTH) for _ in range(count)]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_every_row_of_choices_makes_a_case_and_always_the_same(
    transport: Transport, revision: Revision
) -> None:
    place = ground(transport, revision)
    for row in rows(200):
        made = case(Choices(row), place)
        assert made.steps
        assert made == case(Choices(row), place)


def called(place: Ground) -> set[str]:
    """The names of tools that are called, as a server that is not exact about names may read them."""
    steps = [step for row in rows(2000) for step in case(Choices(row), place).steps if step.framed]
    found = set()
    for step in steps:
        try:
            message = json.loads(step.body)
            found.add(str(message["params"]["name"]).strip().casefold())
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return found


def test_tools_that_may_do_harm_are_left_alone() -> None:
    names = called(ground(Transport.STDIO, REVISIONS[0]))
    assert "look" in names
    assert "delete" not in names


def test_tools_that_may_do_harm_are_called_where_that_is_allowed() -> None:
    assert "delete" in called(ground(Transport.STDIO, REVISIONS[0], effects=True))


def test_no_choices_at_all_make_one_plain_request() -> None:
    place = ground(Transport.STDIO, REVISIONS[0])
    (step,) = case(Choices(b""), place).steps
    assert json.loads(step.body) == {"jsonrpc": "2.0", "id": 101, "method": "ping", "params": {}}


def test_ids_are_not_used_twice_in_a_case() -> None:
    place = ground(Transport.STDIO, REVISIONS[0])
    for row in rows(300):
        made = case(Choices(row), place)
        ids = [json.loads(step.body)["id"] for step in made.steps] if made.together else []
        assert len(set(map(repr, ids))) == len(ids)
