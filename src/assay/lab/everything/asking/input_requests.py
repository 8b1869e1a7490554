"""`input_required` results: which input a fixture requests, and from which clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import A_LIST, fixture_prompt, fixture_tool
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    observe,
    on_reply,
    on_request,
    on_result,
)
from assay.lab.harness.check import Check
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, declare_for, retry
from assay.lab.harness.sabotage.saboteur import params_of
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.suite.retry import NEEDED, wants_input
from assay.lab.suite.self_description import as_object, capabilities_of

from .input_round import (
    USER_NAME,
    ExpectedInput,
    asking_tool,
    call,
    call_with_input,
    calls_tool,
    drop_responses,
    input_requests,
    judge_round,
    open_capable,
    requests_for,
)

PREFIX: Final = "input-required-result-"
ELICITATION: Final = asking_tool("elicitation")
LIST_ROOTS: Final = asking_tool("list_roots")
SAMPLING: Final = asking_tool("sampling")
MULTIPLE: Final = asking_tool("multiple_inputs")
STATE: Final = asking_tool("request_state")
CAPABILITIES: Final = asking_tool("capabilities")
PROMPT: Final = asking_tool("prompt")


class InputRound(NamedTuple):
    """A fixture that requests input once: one scenario, and two requirements with this stem."""

    scenario: str
    stem: str
    fixture: str
    description: str
    """Completes "a tool that requests …"."""
    expected: ExpectedInput
    content: dict[str, Any] | None = None


ROUNDS: Final = (
    InputRound(
        "basic-elicitation",
        "elicitation",
        ELICITATION,
        "elicitation",
        ExpectedInput((ELICIT,), key=USER_NAME),
    ),
    InputRound("basic-list-roots", "list-roots", LIST_ROOTS, "roots", ExpectedInput((ROOTS,))),
    InputRound("basic-sampling", "sampling", SAMPLING, "sampling", ExpectedInput((SAMPLE,))),
    InputRound(
        "multiple-input-requests",
        "multiple-inputs",
        MULTIPLE,
        "three inputs at once",
        ExpectedInput((ELICIT, SAMPLE, ROOTS), state=True),
    ),
    InputRound(
        "request-state",
        "request-state",
        STATE,
        "input with `requestState`",
        ExpectedInput((ELICIT,), state=True),
        {"ok": True},
    ),
)
PROMPT_ROUND: Final = InputRound(
    "non-tool-request", "non-tool", PROMPT, "elicitation", ExpectedInput((ELICIT,))
)

# --- what is asked


def _answer(fixture: InputRound) -> Scenario:
    async def drive(stage: Stage) -> None:
        await call_with_input(await open_capable(stage, fixture.content), fixture.fixture)

    title = f"Answer a tool that requests {fixture.description}"
    needs = (fixture_tool(fixture.fixture),)
    return official_scenario(f"{PREFIX}{fixture.scenario}", title, needs=needs)(drive)


SCENARIOS: Final = tuple(map(_answer, ROUNDS))


@official_scenario(
    "input-required-result-capability-check",
    "Call a tool as clients with different capabilities",
    needs=(fixture_tool(CAPABILITIES),),
)
async def drive_input_required_result_capability_check(stage: Stage) -> None:
    peer = await stage.open(sampling={})
    for capability in ("sampling", "elicitation"):
        peer.capabilities = {capability: {}}
        await call(peer, CAPABILITIES)


@official_scenario(
    "input-required-result-non-tool-request",
    "Answer a prompt that requests elicitation",
    needs=(fixture_prompt(PROMPT),),
)
async def drive_input_required_result_non_tool_request(stage: Stage) -> None:
    peer = await open_capable(stage, {"context": "test context"})
    reply = await peer.request("prompts/get", {"name": PROMPT})
    if wants_input(reply):
        await peer.request("prompts/get", {"name": PROMPT, **retry(peer, reply.result)})


@official_scenario(
    "input-required-result-result-type", "Call a tool that requests input", needs=(fixture_tool(ELICITATION),)
)
async def drive_input_required_result_result_type(stage: Stage) -> None:
    await call(await open_capable(stage), ELICITATION)


@official_scenario(
    "input-required-result-unsupported-methods", "Send requests that must not request input", needs=(A_LIST,)
)
async def drive_input_required_result_unsupported_methods(stage: Stage) -> None:
    peer = await open_capable(stage)
    for capability, method, _, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.request(method)


# --- how it is judged


def _judge(fixture: InputRound, subject: str) -> Check:
    incomplete, complete = (f"sep-2322-{fixture.stem}-{phase}" for phase in ("incomplete", "complete"))
    title = f"{subject} requests {fixture.description} and completes after the answer"
    return official_check(f"{PREFIX}{fixture.scenario}", title, requirements=(incomplete, complete))(
        lambda trace: judge_round(trace, fixture.fixture, incomplete, complete, fixture.expected)
    )


CHECKS: Final = (*(_judge(fixture, "A tool") for fixture in ROUNDS), _judge(PROMPT_ROUND, "A prompt"))


@official_check(
    "input-required-result-capability-check",
    "Input is requested only as the client's capabilities allow",
    requirements=("sep-2322-respect-client-capabilities",),
)
def judge_input_required_result_capability_check(trace: Trace) -> Iterator[Observation]:
    for exchange in requests_for(trace, CAPABILITIES):
        declared = capabilities_of(exchange).keys()
        # The fixture can work with sampling, so there it must request input; elsewhere it need not.
        if wants_input(exchange) or declared == {"sampling"}:
            methods = [str(as_object(request).get("method")) for request in input_requests(exchange).values()]
            yield observe(
                "sep-2322-respect-client-capabilities",
                bool(methods) and all(NEEDED.get(method) in declared for method in methods),
                exchange,
                expected=f"input requests that need only {', '.join(sorted(declared))}",
                observed=f"requests of {', '.join(methods)}" if methods else str(exchange),
            )


@official_check(
    "input-required-result-result-type",
    'A result that requests input has `resultType: "input_required"`',
    requirements=("sep-2322-result-type-included",),
)
def judge_input_required_result_result_type(trace: Trace) -> Iterator[Observation]:
    for exchange in requests_for(trace, ELICITATION):
        kind = (exchange.result or {}).get("resultType")
        yield observe(
            "sep-2322-result-type-included",
            kind == "input_required",
            exchange,
            expected='`resultType`: "input_required"',
            observed=f"{exchange}; `resultType` {kind!r}",
        )


@official_check(
    "input-required-result-unsupported-methods",
    "Lists never request input",
    requirements=("sep-2322-not-on-unsupported-requests",),
)
def judge_input_required_result_unsupported_methods(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*(method for _, method, *_ in LISTS)):
        if exchange.result is not None:
            yield observe(
                "sep-2322-not-on-unsupported-requests",
                not wants_input(exchange),
                exchange,
                expected="the list",
                observed=exchange,
            )


# --- what the checks must catch


@on_request("requests a form again that was filled in", breaks="sep-2322-elicitation-complete")
def form_forgotten(message: Json, context: FaultContext) -> Json:
    return drop_responses(message, ELICITATION)


@on_result(
    "requests elicitation under another key than `user_name`",
    breaks="sep-2322-elicitation-incomplete",
    name=ELICITATION,
)
def other_key(result: Json, context: FaultContext) -> None:
    if "inputRequests" in result:
        result["inputRequests"] = {"name_of_user": result["inputRequests"].pop(USER_NAME)}


@on_result("fails after it received roots", breaks="sep-2322-list-roots-complete", name=LIST_ROOTS)
def roots_refused(result: Json, context: FaultContext) -> None:
    if "content" in result:
        result["isError"] = True


@on_result("completes without requesting roots", breaks="sep-2322-list-roots-incomplete", name=LIST_ROOTS)
def roots_unasked(result: Json, context: FaultContext) -> None:
    result.clear()
    result.update(resultType="complete", content=[{"type": "text", "text": "[]"}])


@on_result("returns no content after sampling", breaks="sep-2322-sampling-complete", name=SAMPLING)
def model_unheard(result: Json, context: FaultContext) -> None:
    if "content" in result:
        result["content"] = []


FORM: Final = {"type": "object", "properties": {"capital": {"type": "string"}}}


@on_result("requests elicitation instead of sampling", breaks="sep-2322-sampling-incomplete", name=SAMPLING)
def user_for_model(result: Json, context: FaultContext) -> None:
    for request in result.get("inputRequests", {}).values():
        request["method"] = ELICIT
        request["params"] = {"message": "What is the capital of France?", "requestedSchema": FORM}


MESSAGE: Final = {"role": "user", "content": {"type": "text", "text": "Invent a name"}}


@on_result(
    "requests sampling from clients without it",
    breaks="sep-2322-respect-client-capabilities",
    name=CAPABILITIES,
)
def asks_models_of_users(result: Json, context: FaultContext) -> None:
    for request in result.get("inputRequests", {}).values():
        request.update(method=SAMPLE, params={"messages": [MESSAGE], "maxTokens": 10})


@on_request("requests elicitation from clients without it", breaks="sep-2322-respect-client-capabilities")
def asks_users_of_models(message: Json, context: FaultContext) -> Json:
    if calls_tool(message, CAPABILITIES):
        declare_for(message, {"elicitation": {}})
    return message


@on_request("reads one of three answers", breaks="sep-2322-multiple-inputs-complete")
def one_answer_read(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if calls_tool(message, MULTIPLE) and "inputResponses" in params:
        params["inputResponses"] = dict(list(params["inputResponses"].items())[:1])
    return message


@on_reply("repeats a key in `inputRequests`", breaks="sep-2322-multiple-inputs-incomplete")
def one_key_twice(reply: Json, context: FaultContext) -> Json | bytes:
    requests = reply.get("result", {}).get("inputRequests")
    if context.params.get("name") != MULTIPLE or not requests:
        return reply
    text = json.dumps({**reply, "result": {**reply["result"], "inputRequests": "placeholder"}})
    members = json.dumps(requests)[1:-1]
    return text.replace('"placeholder"', f"{{{members}, {members}}}").encode()


@on_result("requests two of three inputs", breaks="sep-2322-multiple-inputs-incomplete", name=MULTIPLE)
def one_question_less(result: Json, context: FaultContext) -> None:
    requests = result.get("inputRequests", {})
    for key in [key for key, request in requests.items() if request["method"] == ROOTS]:
        del requests[key]


@on_request("refuses the state that it issued", breaks="sep-2322-request-state-complete")
def own_state_refused(message: Json, context: FaultContext) -> Json:
    if calls_tool(message, STATE) and "requestState" in message["params"]:
        message["params"]["requestState"] += "x"
    return message


@on_result("returns a prompt without messages", breaks="sep-2322-non-tool-complete", method="prompts/get")
def prompt_without_messages(result: Json, context: FaultContext) -> None:
    if "messages" in result:
        result["messages"] = []


@on_result("requests input for a prompt without requests", breaks="sep-2322-non-tool-incomplete", name=PROMPT)
def prompt_asks_nothing(result: Json, context: FaultContext) -> None:
    if "inputRequests" in result:
        result["inputRequests"] = {}
        result.setdefault("requestState", "nothing to ask")


@on_result("requests input without `resultType`", breaks="sep-2322-result-type-included", name=ELICITATION)
def untyped_question(result: Json, context: FaultContext) -> None:
    if "inputRequests" in result:
        del result["resultType"]


@on_reply("requests roots before it lists prompts", breaks="sep-2322-not-on-unsupported-requests")
def list_asks_first(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "result" in reply:
        reply["result"] = {"resultType": "input_required", "inputRequests": {"where": {"method": ROOTS}}}
    return reply


RESULT_EDITS: Final = edited_results(
    "tools/call",
    (
        "asking.nothing-to-keep",
        "requests input without `requestState`",
        "sep-2322-request-state-incomplete",
        "requestState",
        ABSENT,
    ),
    name=STATE,
)
