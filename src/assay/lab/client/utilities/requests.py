"""Pings, cancellation, and answers that come too late."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, ENDLESS, INITIALIZE, observe_continued
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_message, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import ONE_CHANNEL, STDIO_ONLY
from assay.revisions.revision import Opening

# --- what is asked


@client_scenario(
    "A ping is answered",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("pinging"))),
    exercises=("utilities.ping",),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
async def drive_ping(stage: ClientStage) -> None:
    async def pinging(cycle: RequestCycle) -> Answer:
        await cycle.ask("ping", {})
        return {"content": []}

    stage.server.add_tool({"name": "pinging"}, pinging)


LIMIT = 0.4


@client_scenario(
    "An answer that crosses its cancellation does no harm",
    script=ClientScript(
        steps=(LIST_TOOLS, optional({**call_tool(ENDLESS), "timeout": LIMIT}), call_tool(AFTER))
    ),
    exercises=("utilities.races",),
    transports=ONE_CHANNEL,
)
async def drive_late_answer(stage: ClientStage) -> None:
    server = stage.server

    async def wait(cycle: RequestCycle) -> Answer:
        server.memory["waiting"] = cycle
        await cycle.wait_for_disconnect()
        return DONE

    @server.on("notifications/cancelled")
    async def answer_all_the_same(cycle: RequestCycle) -> Answer:
        asked: RequestCycle | None = server.memory.get("waiting")
        if asked is None:
            return DONE  # it cancels something else
        late = {"jsonrpc": "2.0", "id": asked.id, "result": server.shaped(asked.method, {"content": []})}
        await asked.channel.send(encode(late))
        return DONE

    server.add_tool({"name": ENDLESS}, wait)
    server.add_tool({"name": AFTER})


# --- how it is judged


ROW = "PNG-01"


@check("A ping is answered with an empty result", requirements=(ROW,))
def judge_ping(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("ping"):
        answer = exchange.answer
        holds = answer is not None and answer.shape is Shape.RESULT and not answer.result.keys() - {"_meta"}
        yield observe(ROW, holds, exchange, expected="an empty result", observed=exchange)


RACES_ROW = "CAN-08"


@check("A late answer does no harm", requirements=(RACES_ROW,))
def judge_races(trace: Trace) -> Iterator[Observation]:
    return observe_continued(
        RACES_ROW, trace, ENDLESS, "the client to go on after an answer that it had given up"
    )


OWN, OWN_NEWER, OPENING = "CAN-01", "CAN-02", "CAN-04"


@check("A client cancels what it asked for", requirements=(OWN, OWN_NEWER, OPENING), everywhere=True)
def judge_cancellations(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.method != "notifications/cancelled":
            continue
        asked = _asked(trace, message)
        expected = "a request of the client that is not answered yet"
        observed = f"requestId {message.params.get('requestId')!r}"
        for row in (OWN, OWN_NEWER):
            yield observe(row, asked is not None, message, expected=expected, observed=observed)
        if asked is not None:
            expected = "no cancellation of the handshake"
            holds = asked.method != INITIALIZE
            yield observe(OPENING, holds, message, asked, expected=expected, observed="one")


def _asked(trace: Trace, message: Message) -> Exchange | None:
    """What it names, unless that was surely done: an answer may have been on its way."""
    number = message.params.get("requestId")
    for one in trace.subject_exchanges():
        before = one.request.frame.n < message.frame.n
        if before and same_id(one.request.id, number) and not _is_long_done(trace, one, message):
            return one
    return None


def _is_long_done(trace: Trace, exchange: Exchange, message: Message) -> bool:
    """Whether the client has asked for something else between the answer and the cancellation."""
    if exchange.answer is None:
        return False
    done = exchange.answer.frame.n
    return any(done < one.request.frame.n < message.frame.n for one in trace.subject_exchanges())


# --- what the checks must catch


@on_received("a ping is not answered", breaks="PNG-01")
def ping_ignored(message: Json, client: ScriptedClient) -> Json | None:
    return None if message.get("method") == "ping" else message


@on_message("a ping is answered with an error", breaks="PNG-01")
def ping_refused(message: Json, client: ScriptedClient) -> Json:
    if message.get("result") == {}:
        error = {"code": -32601, "message": "no ping here"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return message


@misbehaving(
    "an answer that was given up ends the client",
    breaks="CAN-08",
    scenario="utilities.late-answer",
    transports=ONE_CHANNEL,
)
async def late_answer_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:-1])
    await client.run_steps([LIST_TOOLS])  # on one channel, the late answer comes before this one
    raise StepFailed("an answer came that nobody waits for")


@on_message("a request that was never sent is cancelled", breaks="CAN-01", scenario="framing.gives-up")
def cancels_made_up(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "notifications/cancelled":
        return message
    return {**message, "params": {**message["params"], "requestId": "made up"}}


@on_message(
    "a request is cancelled that was never sent, where each describes itself",
    breaks="CAN-02",
    transports=STDIO_ONLY,
    scenario="framing.gives-up",
)
def cancels_made_up_later(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "notifications/cancelled":
        return message
    return {**message, "params": {**message["params"], "requestId": "made up"}}


@on_message("`initialize` is cancelled after it was sent", breaks="CAN-04", scenario="tools_call")
def cancels_handshake(message: Json, client: ScriptedClient) -> Json | list[Json]:
    if message.get("method") == "initialize":
        client.memory["opening"] = message["id"]
    if message.get("method") != "notifications/initialized":
        return message
    about = {"requestId": client.memory["opening"]}
    return [message, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": about}]
