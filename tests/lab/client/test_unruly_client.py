"""Whatever a client sends, in any scenario: it is judged, and is never a fault of the lab."""

import asyncio
import json

import pytest

from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.pipe import HEAD
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.transport import Transport
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from tests.lab.harness.scripted_server.raw_client import open_stage

SUITE = suite_named("client")
LAST = "test/last"
ODD: tuple[object, ...] = ([], {}, [1], True, None, 1.5, "at:" + "9" * 5000)
METHODS = [
    "initialize",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "resources/subscribe",
    "subscriptions/listen",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/roots/list_changed",
]


def unruly() -> list[bytes]:
    """One fault after the other wherever a host looks; the last line says that this was all."""
    keys = [
        "name",
        "arguments",
        "uri",
        "cursor",
        "ref",
        "argument",
        "level",
        "notifications",
        "requestId",
        "capabilities",
        "inputResponses",
    ]
    said: list[object] = [{"method": odd, "id": odd, "params": odd} for odd in ODD]
    said += [{"id": odd, "result": odd} for odd in ODD]
    for method in METHODS:
        number = {} if method.startswith("notifications/") else {"id": 1}
        said += [{"method": method, **number, "params": odd} for odd in ODD]
        for odd in ODD:
            params = {**dict.fromkeys(keys, odd), "requestState": odd, "_meta": {"progressToken": odd}}
            said.append({"method": method, **({"id": odd} if number else {}), "params": params})
    return [json.dumps(one).encode() for one in said] + [
        b"\xff",
        b"[" * 2000,
        b'{"method":"%b"}' % LAST.encode(),
    ]


@pytest.mark.parametrize("revision", [HANDSHAKE[-1], PER_REQUEST[-1]], ids=lambda revision: revision.date)
async def test_no_message_is_too_odd_for_any_scenario(revision: Revision) -> None:
    faults = {}
    for scenario in SUITE.scenarios.values():
        if Transport.STDIO in scenario.transports and scenario.window(revision):
            fault = await fault_of(scenario.id, revision)
            if fault is not None:
                faults[scenario.id] = repr(fault)
    assert not faults


async def fault_of(name: str, revision: Revision) -> Exception | None:
    async with open_stage(Transport.STDIO, revision) as one:
        await SUITE.scenarios[name].drive(one.stage)
        heard = asyncio.Event()

        async def hear(cycle: RequestCycle) -> Answer:
            heard.set()
            return DONE

        one.stage.server.handlers[LAST] = hear
        reader, writer = await asyncio.open_connection("127.0.0.1", int(one.stage.command.split()[-1]))
        lines = b"".join(line + b"\n" for line in unruly())
        writer.write(HEAD.pack(b"H", 1) + b"1" + HEAD.pack(b"D", len(lines)) + lines)
        # Some hosts hang up first: then they have nothing more to be wrong about.
        ends = {asyncio.create_task(heard.wait()), asyncio.create_task(reader.read())}
        await asyncio.wait(ends, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        writer.close()
    return one.stage.fault
