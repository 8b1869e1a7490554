"""Pings, cancellation, and answers that come too late."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from assay.lab.client.altered_message import within_request
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

CANCELLED: Final = "notifications/cancelled"

# --- what is asked


@client_scenario(
    "Send the client a ping",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("pinging"))),
    exercises=("utilities.ping",),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
async def drive_ping(stage: ClientStage) -> None:
    async def pinging(cycle: RequestCycle) -> Answer:
        await cycle.ask("ping", {})
        return {"content": []}

    stage.server.add_tool({"name": "pinging"}, pinging)


@client_scenario(
    "Answer a request after its cancellation",
    script=ClientScript(
        steps=(LIST_TOOLS, optional({**call_tool(ENDLESS), "timeout": 0.4}), call_tool(AFTER)),
        timeouts=True,
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

    @server.on(CANCELLED)
    async def answer_late(cycle: RequestCycle) -> Answer:
        call: RequestCycle | None = server.memory.get("waiting")
        if call is not None:  # otherwise another request was cancelled
            result = server.shaped(call.method, {"content": []})
            await call.channel.send(encode({"jsonrpc": "2.0", "id": call.id, "result": result}))
        return DONE

    server.add_tool({"name": ENDLESS}, wait)
    server.add_tool({"name": AFTER})


# --- how it is judged


@check("A ping is answered with an empty result", requirements=("PNG-01",))
def judge_ping(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("ping"):
        answer = exchange.answer
        holds = answer is not None and answer.shape is Shape.RESULT and not answer.result.keys() - {"_meta"}
        yield observe("PNG-01", holds, exchange, expected="an empty result", observed=exchange)


@check("An answer after a cancellation is ignored", requirements=("CAN-08",))
def judge_races(trace: Trace) -> Iterator[Observation]:
    expected = "the client to continue after the answer to a cancelled request"
    return observe_continued("CAN-08", trace, ENDLESS, expected)


@check(
    "A client cancels only its own open requests",
    requirements=("CAN-01", "CAN-02", "CAN-04"),
    everywhere=True,
)
def judge_cancellations(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.method != CANCELLED:
            continue
        request = _cancelled_request(trace, message)
        expected = "the id of a request of the client that is not answered yet"
        observed = f"requestId {message.params.get('requestId')!r}"
        for requirement in ("CAN-01", "CAN-02"):
            holds = request is not None
            yield observe(requirement, holds, message, expected=expected, observed=observed)
        if request is not None:
            holds, expected = request.method != INITIALIZE, "no cancellation of the handshake"
            yield observe("CAN-04", holds, message, request, expected=expected, observed="one")


def _cancelled_request(trace: Trace, message: Message) -> Exchange | None:
    """The request that the cancellation names, unless the client must have known its answer.

    It knew the answer if it sent another request between the answer and the cancellation.
    """
    end = message.frame.n
    requests = [request for request in trace.subject_exchanges() if request.request.frame.n < end]
    for request in requests:
        if same_id(request.request.id, message.params.get("requestId")):
            done = end if request.answer is None else request.answer.frame.n
            if not any(other.request.frame.n > done for other in requests):
                return request
    return None


# --- what the checks must catch


@on_received("does not answer a ping", breaks="PNG-01")
def ping_ignored(message: Json, client: ScriptedClient) -> Json | None:
    return None if message.get("method") == "ping" else message


@on_message("answers a ping with an error", breaks="PNG-01")
def ping_refused(message: Json, client: ScriptedClient) -> Json:
    if message.get("result") == {}:
        error = {"code": -32601, "message": "no ping here"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return message


@misbehaving(
    "exits because of an answer after a cancellation",
    breaks="CAN-08",
    scenario="utilities.late-answer",
    transports=ONE_CHANNEL,
)
async def late_answer_ends_it(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:-1])
    await client.run_steps([LIST_TOOLS])  # on one channel, the late answer comes before this one
    raise StepFailed("an answer to no request")


def _cancel_another(message: Json, client: ScriptedClient) -> Json:
    return within_request(message, CANCELLED, ("params",), lambda params: {**params, "requestId": "made up"})


_cancels_another = partial(on_message, "cancels a request that it never sent", scenario="framing.gives-up")
CANCELS: Final = (
    _cancels_another(id="utilities.cancels-made-up", breaks="CAN-01")(_cancel_another),
    _cancels_another(id="utilities.cancels-made-up-later", breaks="CAN-02", transports=STDIO_ONLY)(
        _cancel_another
    ),
)


@on_message("cancels `initialize`", breaks="CAN-04", scenario="tools_call")
def cancels_handshake(message: Json, client: ScriptedClient) -> Json | list[Json]:
    if message.get("method") == INITIALIZE:
        client.memory["opening"] = message["id"]
    if message.get("method") != "notifications/initialized":
        return message
    params = {"requestId": client.memory["opening"]}
    return [message, {"jsonrpc": "2.0", "method": CANCELLED, "params": params}]
