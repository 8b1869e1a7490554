"""Pages of one pass form a listing; capabilities are read from either opening."""

from assay.lab.harness.trace.listing import declaration, listings
from assay.revisions.registry import PER_REQUEST
from tests.lab.traces import request, result, stdio_trace


def test_pages_are_one_listing_and_a_new_pass_is_another() -> None:
    trace = stdio_trace(
        (">", request(1, "tools/list")),
        ("<", result(1, tools=[{"name": "a"}, 7], nextCursor="x")),
        (">", request(2, "tools/list", cursor="x")),
        ("<", result(2, tools=[{"name": "b"}, {"name": 3}])),
        (">", request(3, "tools/list")),
        ("<", result(3, tools=[], nextCursor="x")),
    )
    first, second = listings(trace, "tools/list", "tools")
    assert first.names == ["a", "b"] and len(first.items) == 3 and first.complete
    assert first.connection == "1" and len(first.frames) == 4
    assert second.names == [] and not second.complete


def test_unanswered_listing_is_incomplete() -> None:
    (listing,) = listings(stdio_trace((">", request(1, "tools/list", cursor="x"))), "tools/list", "tools")
    assert not listing.complete and listing.items == []


def test_declaration_is_read_off_the_handshake() -> None:
    capabilities = {"tools": {"listChanged": True}, "prompts": False}
    trace = stdio_trace((">", request(1, "initialize")), ("<", result(1, capabilities=capabilities)))
    declared = declaration(trace)
    assert declared is not None and declared.has("tools", "listChanged")
    assert not declared.has("prompts") and not declared.has("tools", "x", "y")
    assert len(declared.frames) == 2


def test_declaration_is_read_off_discovery() -> None:
    turns = ((">", request(1, "server/discover")), ("<", result(1, capabilities={"tools": {}})))
    declared = declaration(stdio_trace(*turns, revision=PER_REQUEST[-1]))
    assert declared is not None and declared.has("tools")
    assert declaration(stdio_trace((">", request(1, "initialize")), ("<", result(1, capabilities=3)))) is None
