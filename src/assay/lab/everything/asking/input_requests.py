"""`input_required` results: which input a fixture asks for, and of whom."""

from __future__ import annotations

import json
from collections.abc import Iterator

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fault import forget_answers, names, result_for
from assay.lab.everything.fixture import fixture_prompt, fixture_tool
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply, on_request
from assay.lab.harness.driver.input_round import retry
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, declare_for
from assay.lab.harness.need import Need
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.retry import NEEDED
from assay.lab.suite.retry import wants_input as wants_input_retry
from assay.lab.suite.self_description import as_object, capabilities_of

from .input_round import (
    USER_NAME,
    Wanted,
    able,
    asked_in,
    asked_then_done,
    asking_tool,
    call,
    call_through,
    rounds,
    wants_input,
)

# --- what is asked


TOOL = asking_tool("elicitation")


@official_scenario(
    "input-required-result-basic-elicitation",
    "A tool asks its user, and is answered",
    needs=(fixture_tool(TOOL),),
)
async def drive_input_required_result_basic_elicitation(stage: Stage) -> None:
    peer = await able(stage)
    await call_through(peer, TOOL)


INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_TOOL = asking_tool("list_roots")


@official_scenario(
    "input-required-result-basic-list-roots",
    "A tool asks for roots, and is answered",
    needs=(fixture_tool(INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_TOOL),),
)
async def drive_input_required_result_basic_list_roots(stage: Stage) -> None:
    peer = await able(stage)
    await call_through(peer, INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_TOOL)


INPUT_REQUIRED_RESULT_BASIC_SAMPLING_TOOL = asking_tool("sampling")


@official_scenario(
    "input-required-result-basic-sampling",
    "A tool asks a model, and is answered",
    needs=(fixture_tool(INPUT_REQUIRED_RESULT_BASIC_SAMPLING_TOOL),),
)
async def drive_input_required_result_basic_sampling(stage: Stage) -> None:
    peer = await able(stage)
    await call_through(peer, INPUT_REQUIRED_RESULT_BASIC_SAMPLING_TOOL)


INPUT_REQUIRED_RESULT_CAPABILITY_CHECK_TOOL = asking_tool("capabilities")


@official_scenario(
    "input-required-result-capability-check",
    "A client is asked only in ways that it declares",
    needs=(fixture_tool(INPUT_REQUIRED_RESULT_CAPABILITY_CHECK_TOOL),),
)
async def drive_input_required_result_capability_check(stage: Stage) -> None:
    peer = await stage.open(sampling={})
    for capability in ("sampling", "elicitation"):
        peer.capabilities = {capability: {}}
        await call(peer, INPUT_REQUIRED_RESULT_CAPABILITY_CHECK_TOOL)


INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_TOOL = asking_tool("multiple_inputs")


@official_scenario(
    "input-required-result-multiple-input-requests",
    "A tool asks three things at once, and is answered",
    needs=(fixture_tool(INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_TOOL),),
)
async def drive_input_required_result_multiple_input_requests(stage: Stage) -> None:
    peer = await able(stage)
    await call_through(peer, INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_TOOL)


PROMPT = "test_input_required_result_prompt"


@official_scenario(
    "input-required-result-non-tool-request",
    "A prompt asks its user, and is answered",
    needs=(fixture_prompt(PROMPT),),
)
async def drive_input_required_result_non_tool_request(stage: Stage) -> None:
    peer = await able(stage, {"context": "test context"})
    reply = await peer.request("prompts/get", {"name": PROMPT})
    if wants_input(reply):
        await peer.request("prompts/get", {"name": PROMPT, **retry(peer, reply.result)})


@official_scenario(
    "input-required-result-result-type", "A result that wants input says so", needs=(fixture_tool(TOOL),)
)
async def drive_input_required_result_result_type(stage: Stage) -> None:
    peer = await able(stage)
    await call(peer, TOOL)


SOMETHING = Need(lambda facts: any(facts.declares(one) for one, *_ in LISTS), "declares nothing to list")


@official_scenario(
    "input-required-result-unsupported-methods", "Requests that may not lead to questions", needs=(SOMETHING,)
)
async def drive_input_required_result_unsupported_methods(stage: Stage) -> None:
    peer = await able(stage)
    for capability, method, _, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.request(method)


# --- how it is judged


FIRST, LAST = "sep-2322-elicitation-incomplete", "sep-2322-elicitation-complete"
WANTED = Wanted((ELICIT,), key=USER_NAME)


@official_check(
    "input-required-result-basic-elicitation",
    "A tool asks its user by a result, and goes on with the answer",
    requirements=(FIRST, LAST),
)
def judge_input_required_result_basic_elicitation(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(trace, asking_tool("elicitation"), FIRST, LAST, WANTED)


INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_FIRST, INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_LAST = (
    "sep-2322-list-roots-incomplete",
    "sep-2322-list-roots-complete",
)
INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_WANTED = Wanted((ROOTS,))


@official_check(
    "input-required-result-basic-list-roots",
    "A tool asks for roots by a result, and goes on with them",
    requirements=(INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_FIRST, INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_LAST),
)
def judge_input_required_result_basic_list_roots(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(
        trace,
        asking_tool("list_roots"),
        INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_FIRST,
        INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_LAST,
        INPUT_REQUIRED_RESULT_BASIC_LIST_ROOTS_WANTED,
    )


INPUT_REQUIRED_RESULT_BASIC_SAMPLING_FIRST, INPUT_REQUIRED_RESULT_BASIC_SAMPLING_LAST = (
    "sep-2322-sampling-incomplete",
    "sep-2322-sampling-complete",
)
INPUT_REQUIRED_RESULT_BASIC_SAMPLING_WANTED = Wanted((SAMPLE,))


@official_check(
    "input-required-result-basic-sampling",
    "A tool asks a model by a result, and goes on with the answer",
    requirements=(INPUT_REQUIRED_RESULT_BASIC_SAMPLING_FIRST, INPUT_REQUIRED_RESULT_BASIC_SAMPLING_LAST),
)
def judge_input_required_result_basic_sampling(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(
        trace,
        asking_tool("sampling"),
        INPUT_REQUIRED_RESULT_BASIC_SAMPLING_FIRST,
        INPUT_REQUIRED_RESULT_BASIC_SAMPLING_LAST,
        INPUT_REQUIRED_RESULT_BASIC_SAMPLING_WANTED,
    )


FIXED = {"sampling"}
"""What the fixture can do with: there it must ask. To others it need not."""


@official_check(
    "input-required-result-capability-check",
    "A client is asked as it can be",
    requirements=("sep-2322-respect-client-capabilities",),
)
def judge_input_required_result_capability_check(trace: Trace) -> Iterator[Observation]:
    for exchange in rounds(trace, asking_tool("capabilities")):
        declared = capabilities_of(exchange).keys()
        if wants_input_retry(exchange) or declared == FIXED:
            methods = [str(as_object(one).get("method")) for one in asked_in(exchange).values()]
            allowed = bool(methods) and all(NEEDED.get(method) in declared for method in methods)
            expected = f"questions that need {', '.join(sorted(declared))} and nothing else"
            yield observe(
                "sep-2322-respect-client-capabilities",
                allowed,
                exchange,
                expected=expected,
                observed=_told(exchange, methods),
            )


def _told(exchange: Exchange, methods: list[str]) -> str:
    return f"questions by {', '.join(methods)}" if methods else str(exchange)


INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_FIRST, INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_LAST = (
    "sep-2322-multiple-inputs-incomplete",
    "sep-2322-multiple-inputs-complete",
)
INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_WANTED = Wanted((ELICIT, SAMPLE, ROOTS), state=True)


@official_check(
    "input-required-result-multiple-input-requests",
    "Three questions come at once, and are answered at once",
    requirements=(
        INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_FIRST,
        INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_LAST,
    ),
)
def judge_input_required_result_multiple_input_requests(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(
        trace,
        asking_tool("multiple_inputs"),
        INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_FIRST,
        INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_LAST,
        INPUT_REQUIRED_RESULT_MULTIPLE_INPUT_REQUESTS_WANTED,
    )


INPUT_REQUIRED_RESULT_NON_TOOL_REQUEST_FIRST, INPUT_REQUIRED_RESULT_NON_TOOL_REQUEST_LAST = (
    "sep-2322-non-tool-incomplete",
    "sep-2322-non-tool-complete",
)


@official_check(
    "input-required-result-non-tool-request",
    "Prompts may ask first, too",
    requirements=(INPUT_REQUIRED_RESULT_NON_TOOL_REQUEST_FIRST, INPUT_REQUIRED_RESULT_NON_TOOL_REQUEST_LAST),
)
def judge_input_required_result_non_tool_request(trace: Trace) -> Iterator[Observation]:
    yield from asked_then_done(
        trace,
        PROMPT,
        INPUT_REQUIRED_RESULT_NON_TOOL_REQUEST_FIRST,
        INPUT_REQUIRED_RESULT_NON_TOOL_REQUEST_LAST,
        Wanted((ELICIT,)),
    )


@official_check(
    "input-required-result-result-type",
    "A result that wants input says so",
    requirements=("sep-2322-result-type-included",),
)
def judge_input_required_result_result_type(trace: Trace) -> Iterator[Observation]:
    for exchange in rounds(trace, asking_tool("elicitation")):
        kind = (exchange.result or {}).get("resultType")
        observed = f"{exchange}; `resultType` {kind!r}"
        expected = '`resultType`: "input_required"'
        yield observe(
            "sep-2322-result-type-included",
            kind == "input_required",
            exchange,
            expected=expected,
            observed=observed,
        )


@official_check(
    "input-required-result-unsupported-methods",
    "Lists are answered at once",
    requirements=("sep-2322-not-on-unsupported-requests",),
)
def judge_input_required_result_unsupported_methods(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*(method for _, method, *_ in LISTS)):
        if exchange.result is not None:
            at_once = not wants_input_retry(exchange)
            yield observe(
                "sep-2322-not-on-unsupported-requests",
                at_once,
                exchange,
                expected="the list",
                observed=exchange,
            )


# --- what the checks must catch


@on_request("a form that was filled in is asked for again", breaks="sep-2322-elicitation-complete")
def form_forgotten(message: Json, context: FaultContext) -> Json:
    return forget_answers(message, asking_tool("elicitation"))


@on_reply("the user is asked under another key than `user_name`", breaks="sep-2322-elicitation-incomplete")
def other_key(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("elicitation"))
    if result is not None and "inputRequests" in result:
        result["inputRequests"] = {"name_of_user": result["inputRequests"].pop(USER_NAME)}
    return reply


@on_reply("a tool fails once it has the roots that it asked for", breaks="sep-2322-list-roots-complete")
def roots_refused(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("list_roots"))
    if result is not None and "content" in result:
        result["isError"] = True
    return reply


@on_reply("a tool that needs roots does without", breaks="sep-2322-list-roots-incomplete")
def roots_unasked(reply: Json, context: FaultContext) -> Json:
    if result_for(reply, context, asking_tool("list_roots")) is not None:
        reply["result"] = {"resultType": "complete", "content": [{"type": "text", "text": "[]"}]}
    return reply


@on_reply("a tool that was given the model's message has no content", breaks="sep-2322-sampling-complete")
def model_unheard(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("sampling"))
    if result is not None and "content" in result:
        result["content"] = []
    return reply


FORM = {"type": "object", "properties": {"capital": {"type": "string"}}}


@on_reply("the user is asked in place of the model", breaks="sep-2322-sampling-incomplete")
def user_for_model(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("sampling")) or {}
    for question in result.get("inputRequests", {}).values():
        question["method"] = ELICIT
        question["params"] = {"message": "What is the capital of France?", "requestedSchema": FORM}
    return reply


MESSAGE = {"role": "user", "content": {"type": "text", "text": "Invent a name"}}


@on_reply("clients without a model are asked to sample", breaks="sep-2322-respect-client-capabilities")
def asks_models_of_users(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("capabilities")) or {}
    for question in result.get("inputRequests", {}).values():
        question["method"], question["params"] = SAMPLE, {"messages": [MESSAGE], "maxTokens": 10}
    return reply


@on_request("clients without users are sent forms", breaks="sep-2322-respect-client-capabilities")
def asks_users_of_models(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("capabilities")):
        declare_for(message, {"elicitation": {}})
    return message


@on_request("of three answers one is read", breaks="sep-2322-multiple-inputs-complete")
def one_answer_read(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("multiple_inputs")) and "inputResponses" in message["params"]:
        given = message["params"]["inputResponses"]
        message["params"]["inputResponses"] = dict(list(given.items())[:1])
    return message


PLACE = "where the questions go"


@on_reply("a key is there twice", breaks="sep-2322-multiple-inputs-incomplete")
def one_key_twice(reply: Json, context: FaultContext) -> Json | bytes:
    result = result_for(reply, context, asking_tool("multiple_inputs")) or {}
    asked = result.get("inputRequests")
    if not asked:
        return reply
    text = json.dumps({**reply, "result": {**result, "inputRequests": PLACE}})
    members = json.dumps(asked)[1:-1]
    return text.replace(json.dumps(PLACE), f"{{{members}, {members}}}").encode()


@on_reply("of three questions two are asked", breaks="sep-2322-multiple-inputs-incomplete")
def one_question_less(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("multiple_inputs")) or {}
    asked = result.get("inputRequests", {})
    for key in [key for key, question in asked.items() if question["method"] == ROOTS]:
        del asked[key]
    return reply


@on_reply("a prompt whose question is answered has no messages", breaks="sep-2322-non-tool-complete")
def prompt_without_messages(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "messages" in reply.get("result", {}):
        reply["result"]["messages"] = []
    return reply


@on_reply("a prompt wants input and does not say what", breaks="sep-2322-non-tool-incomplete")
def prompt_asks_nothing(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "inputRequests" in reply.get("result", {}):
        reply["result"]["inputRequests"] = {}
        reply["result"].setdefault("requestState", "nothing to ask")
    return reply


@on_reply("a result with questions has no `resultType`", breaks="sep-2322-result-type-included")
def untyped_question(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("elicitation")) or {}
    if "inputRequests" in result:
        del result["resultType"]
    return reply


ASKED = {"resultType": "input_required", "inputRequests": {"where": {"method": ROOTS}}}


@on_reply("a list asks for roots first", breaks="sep-2322-not-on-unsupported-requests")
def list_asks_first(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "result" in reply:
        reply["result"] = ASKED
    return reply
