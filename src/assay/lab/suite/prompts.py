"""Prompts: the list, the messages of each prompt, and errors for wrong requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_result,
    result_reply,
    scenario,
)
from assay.lab.harness.driver.argument import prompt_arguments, required_names
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.need import A_PROMPT, declares
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import HTTP_ONLY, STDIO_ONLY
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from assay.revisions.revision import Structured

from .content_block import is_base64, is_mime_type, is_uri
from .list_offer import (
    PROMPTS,
    observe_available,
    observe_change_announced,
    observe_declared,
    observe_same_for_all,
    observe_unannounced,
)


class PromptGet(Struct, frozen=True):
    exchange: Exchange
    prompt: dict[str, Any]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def arguments(self) -> dict[str, Any]:
        arguments = self.exchange.params.get("arguments")
        return arguments if isinstance(arguments, dict) else {}

    @property
    def missing(self) -> list[str]:
        return [name for name in required_names(self.prompt) if name not in self.arguments]

    @property
    def untextual(self) -> list[str]:
        """Arguments that are not strings."""
        return [name for name, value in self.arguments.items() if not isinstance(value, str)]

    @property
    def succeeded(self) -> bool:
        result = self.exchange.result
        return result is not None and result.get("resultType") != "input_required"


def listed_prompts(trace: Trace) -> dict[str, dict[str, Any]]:
    lists = trace.exchanges("prompts/list")
    prompts = (prompt for exchange in lists for prompt in exchange.objects("prompts"))
    return {prompt["name"]: prompt for prompt in prompts if isinstance(prompt.get("name"), str)}


def prompt_gets(trace: Trace) -> Iterator[PromptGet]:
    """The answered requests for listed prompts."""
    prompts = listed_prompts(trace)
    for exchange in trace.exchanges("prompts/get"):
        name = exchange.params.get("name")
        if isinstance(name, str) and name in prompts and exchange.answer is not None:
            yield PromptGet(exchange, prompts[name])


# --- what is asked


@scenario("List prompts, whether declared or not")
async def drive_declared(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("prompts/list")


@scenario(
    "List prompts on two connections",
    exercises=("prompts.available", "prompts.same-for-all"),
    needs=(declares("prompts"),),
)
async def drive_same_for_all(stage: Stage) -> None:
    first, second = await stage.open(), await stage.open()
    for peer in (first, second):
        await peer.pages("prompts/list", "prompts")
    for prompt in stage.facts.prompts[:1]:
        await _get(first, prompt, prompt_arguments(prompt))
    for peer in (first, second, first, second):
        await peer.pages("prompts/list", "prompts")


async def _get(peer: Peer, prompt: dict[str, Any], arguments: dict[str, Any]) -> None:
    await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": arguments})


@scenario(
    "Get every prompt with its arguments",
    exercises=("prompts.messages", "prompts.content", "prompts.internal-error"),
    needs=(A_PROMPT,),
)
async def drive_every_prompt(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")
    for prompt in stage.facts.prompts:
        await _get(peer, prompt, prompt_arguments(prompt))


@scenario(
    "Get an unknown prompt, and a prompt with bad arguments",
    exercises=("prompts.unknown-name", "prompts.arguments"),
    needs=(A_PROMPT,),
)
async def drive_wrong_requests(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")
    with_arguments = [prompt for prompt in stage.facts.prompts if prompt_arguments(prompt)]
    prompt = (with_arguments or stage.facts.prompts)[0]
    good: dict[str, Any] = prompt_arguments(prompt)
    await _get(peer, prompt, good)
    for name in list(good)[:1]:
        without = {key: value for key, value in good.items() if key != name}
        for arguments in (without, {**good, name: {"of": "the lab"}}):
            await _get(peer, prompt, arguments)
    await peer.request("prompts/get", {"name": "no-such-prompt-of-the-lab"})


# --- how it is judged


@check("A server with prompts declares them", requirements=("PR-01",), everywhere=True)
def judge_declared(trace: Trace) -> Iterator[Observation]:
    yield from observe_declared(trace, "PR-01", PROMPTS)


@check("The list of prompts is the same on every connection", requirements=("PR-04",), everywhere=True)
def judge_same_for_all(trace: Trace) -> Iterator[Observation]:
    yield from observe_same_for_all(trace, "PR-04", PROMPTS)


@check("Declared prompts can be listed", requirements=("PR-03",), everywhere=True)
def judge_available(trace: Trace) -> Iterator[Observation]:
    yield from observe_available(trace, "PR-03", PROMPTS)


@check("Changes of the list of prompts are announced", requirements=("PR-02",), history=True)
def judge_list_changed(trace: Trace) -> Iterator[Observation]:
    yield from observe_change_announced(trace, "PR-02", PROMPTS)


@check(
    "Changes of prompts are announced only with `listChanged`",
    requirements=("PR-14",),
    everywhere=True,
    history=True,
)
def judge_negotiated(trace: Trace) -> Iterator[Observation]:
    yield from observe_unannounced(trace, "PR-14", PROMPTS)


@check("Messages of prompts have a role and one content block", requirements=("PR-08",), everywhere=True)
def judge_messages(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        for message in get.exchange.items("messages"):
            problem = _problem(message)
            expected = "role user or assistant, and one content block"
            yield observe("PR-08", problem is None, get, expected=expected, observed=problem)


def _problem(message: Any) -> str | None:
    if not isinstance(message, dict):
        return f"a message that is not an object: {message!r}"
    if message.get("role") not in ("user", "assistant"):
        return f"role {message.get('role')!r}"
    content = message.get("content")
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        return f"content {str(content)[:60]}"
    return None


@check(
    "Images, audio and resources in prompts are valid",
    requirements=("PR-05", "PR-06", "PR-07"),
    everywhere=True,
)
def judge_content(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        for message in get.exchange.objects("messages"):
            block = message.get("content")
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(block, dict) and isinstance(kind, str) and kind in _KINDS:
                requirement, expected, problem_of = _KINDS[kind]
                problem = problem_of(block, get)
                yield observe(requirement, problem is None, get, expected=expected, observed=problem)


def _media_problem(block: dict[str, Any], get: PromptGet) -> str | None:
    if not is_base64(block.get("data")):
        return f"data that is not Base64: {str(block.get('data'))[:40]!r}"
    if not is_mime_type(block.get("mimeType")):
        return f"mimeType {block.get('mimeType')!r}"
    return None


def _resource_problem(block: dict[str, Any], get: PromptGet) -> str | None:
    resource = block.get("resource")
    if not isinstance(resource, dict):
        return f"resource {resource!r}"
    uri = resource.get("uri")
    # The driver may have passed this URI as an argument.
    if not is_uri(uri) and uri not in get.arguments.values():
        return f"uri {uri!r}"
    if not is_mime_type(resource.get("mimeType")):
        return f"mimeType {resource.get('mimeType')!r}"
    if isinstance(resource.get("text"), str) or is_base64(resource.get("blob")):
        return None
    return "neither text nor a Base64 blob"


_MEDIA: Final = "Base64 data with a valid MIME type"
_KINDS: Final[dict[str, tuple[str, str, Callable[[dict[str, Any], PromptGet], str | None]]]] = {
    "image": ("PR-05", _MEDIA, _media_problem),
    "audio": ("PR-06", _MEDIA, _media_problem),
    "resource": ("PR-07", "a valid URI, a MIME type, and text or a Base64 blob", _resource_problem),
}
STANDARD_CODES: Final = range(-32768, -32000 + 1)
"""Codes that JSON-RPC reserves. A server may have a more specific one than -32603 among them."""


@check("Failures of prompts are standard errors", requirements=("PR-11",))
def judge_internal_error(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        answer = get.exchange.answer
        if answer is not None and answer.error and not get.missing and not get.untextual:
            yield observe(
                "PR-11",
                type(answer.code) is int and answer.code in STANDARD_CODES,
                get,
                expected=f"error {INTERNAL_ERROR} or another standard code",
                observed=get.exchange,
            )


@check("A prompt that does not exist is refused with -32602", requirements=("PR-09",), everywhere=True)
def judge_unknown_name(trace: Trace) -> Iterator[Observation]:
    listed = listed_prompts(trace)
    was_read = any(listing.complete for listing in listings(trace, "prompts/list", "prompts"))
    for exchange in trace.exchanges("prompts/get"):
        name = exchange.params.get("name")
        if was_read and exchange.answer is not None and isinstance(name, str) and name not in listed:
            refused, expected = exchange.code == INVALID_PARAMS, f"error {INVALID_PARAMS}"
            yield observe("PR-09", refused, exchange, expected=expected, observed=exchange)


@check("Arguments of prompts are validated", requirements=("PR-10", "PR-12"))
def judge_arguments(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        problem = _arguments_problem(get)
        if problem is None:
            continue
        expected = f"a refusal, since {problem}"
        yield observe("PR-12", not get.succeeded, get, expected=expected, observed=get.exchange)
        if get.missing and not get.succeeded and get.exchange.result is None:
            expected = f"error {INVALID_PARAMS}, since {problem}"
            holds = get.exchange.code == INVALID_PARAMS
            yield observe("PR-10", holds, get, expected=expected, observed=get.exchange)


def _arguments_problem(get: PromptGet) -> str | None:
    if get.missing:
        return f"the required {', '.join(get.missing)} is missing"
    return f"{', '.join(get.untextual)} is not a string" if get.untextual else None


# --- what the checks must catch


@on_result(
    "omits a prompt from every second list", breaks="PR-04", transports=HTTP_ONLY, method="prompts/list"
)
def replicas_differ(result: Json, context: FaultContext) -> None:
    if "cursor" not in context.params:
        context.memory["read"] = context.memory.get("read", 0) + 1
        if context.memory["read"] % 2:
            del result["prompts"][0]


@on_reply("omits a prompt from the list once it was used", breaks="PR-04", transports=STDIO_ONLY)
def used_up(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get":
        context.memory["used"] = context.params.get("name")
    if context.method == "prompts/list" and "result" in reply:
        prompts = reply["result"]["prompts"]
        used = context.memory.get("used")
        reply["result"]["prompts"] = [prompt for prompt in prompts if prompt["name"] != used]
    return reply


@on_reply(
    "never sends `notifications/prompts/list_changed`",
    breaks="PR-02",
    window=lambda revision: revision.structured is not Structured.ABSENT,
    silent=True,
)
def silent_change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == "notifications/prompts/list_changed" else reply


@on_result("sends a list as the content of a message", breaks="PR-08", method="prompts/get")
def content_list(result: Json, context: FaultContext) -> None:
    for message in result["messages"]:
        message["content"] = [message["content"]]


@on_result("sends a string as the content of a message", breaks="PR-08", method="prompts/get")
def content_text(result: Json, context: FaultContext) -> None:
    for message in result["messages"]:
        message["content"] = message["content"].get("text", "")


def _edited_block(
    name: str, fault: str, breaks: str, kind: str, edit: Callable[[dict[str, Any]], Any]
) -> Saboteur:
    """Change the content blocks of a kind in the prompts of the everything server."""

    @on_result(fault, id=name, breaks=breaks, method="prompts/get", server="everything")
    def saboteur(result: Json, context: FaultContext) -> None:
        for message in result["messages"]:
            if message["content"]["type"] == kind:
                message["content"] |= edit(message["content"])

    return saboteur


def _added_block(name: str, fault: str, breaks: str, block: Json) -> Saboteur:
    """A message with an invalid block, in the prompts of any server."""

    @on_result(fault, id=name, breaks=breaks, method="prompts/get")
    def saboteur(result: Json, context: FaultContext) -> None:
        result["messages"].append({"role": "user", "content": block})

    return saboteur


def _audio(data: str, mime_type: str) -> Json:
    return {"type": "audio", "data": data, "mimeType": mime_type}


def _resource(block: Json, *without: str, **changes: str) -> Json:
    resource = {key: value for key, value in block["resource"].items() if key not in without}
    return {"resource": {**resource, **changes}}


BLOCK_EDITS: Final = (
    _edited_block(
        "prompts.image-extension",
        "sends a file extension as the MIME type of an image",
        "PR-05",
        "image",
        lambda block: {"mimeType": "png"},
    ),
    _edited_block(
        "prompts.image-url",
        "sends a URL as the data of an image",
        "PR-05",
        "image",
        lambda block: {"data": "https://assay.example/red.png"},
    ),
    _edited_block(
        "prompts.audio-data-url",
        "sends a data URL as audio data",
        "PR-06",
        "image",
        lambda block: _audio(f"data:audio/wav;base64,{block['data']}", "audio/wav"),
    ),
    _edited_block(
        "prompts.audio-untyped",
        "sends audio with an empty MIME type",
        "PR-06",
        "image",
        lambda block: _audio(block["data"], ""),
    ),
    _edited_block(
        "prompts.resource-hex",
        "sends a blob that is not Base64",
        "PR-07",
        "resource",
        lambda block: _resource(block, "text", blob="89:50:4e:47"),
    ),
    _edited_block(
        "prompts.resource-path",
        "sends a relative path as the URI of a resource",
        "PR-07",
        "resource",
        lambda block: _resource(block, uri="docs/read me.txt"),
    ),
    _edited_block(
        "prompts.resource-untyped",
        "sends a resource without a MIME type",
        "PR-07",
        "resource",
        lambda block: _resource(block, "mimeType"),
    ),
)


@on_reply("reports a failing prompt as error 0", breaks="PR-11")
def failure_code_zero(reply: Json, context: FaultContext) -> Json:
    if context.method != "prompts/get" or "result" not in reply:
        return reply
    return error_reply(reply, 0, "template engine is not running")


@on_reply("answers an unknown prompt with an empty one", breaks="PR-09")
def unknown_empty(reply: Json, context: FaultContext) -> Json:
    if context.method != "prompts/get" or "no-such" not in str(context.params.get("name")):
        return reply
    return result_reply(reply, {"messages": [], "resultType": "complete"})


@on_reply("refuses an unknown prompt with -32601", breaks="PR-09")
def unknown_not_found(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "no-such" in str(context.params.get("name")):
        reply["error"]["code"] = METHOD_NOT_FOUND
    return reply


def _lacks_arguments(reply: Json, context: FaultContext) -> bool:
    refused = context.method == "prompts/get" and "error" in reply
    return refused and context.params.get("arguments") == {}


@on_reply("reports a missing argument as -32603", breaks="PR-10")
def missing_is_a_crash(reply: Json, context: FaultContext) -> Json:
    if not _lacks_arguments(reply, context):
        return reply
    return error_reply(reply, INTERNAL_ERROR, "cannot read properties of undefined")


@on_reply("accepts a missing argument", breaks="PR-12")
def missing_is_undefined(reply: Json, context: FaultContext) -> Json:
    if not _lacks_arguments(reply, context):
        return reply
    message = {"role": "user", "content": {"type": "text", "text": "Please review: undefined"}}
    return result_reply(reply, {"messages": [message], "resultType": "complete"})


RESULT_EDITS: Final = (
    *edited_results(
        ("initialize", "server/discover"),
        ("prompts.undeclared", "does not declare prompts", "PR-01", "capabilities.prompts", ABSENT),
        (
            "prompts.undeclared-notices",
            "does not declare `prompts.listChanged`",
            "PR-14",
            "capabilities.prompts",
            {},
        ),
    ),
    *edited_results(
        "prompts/list", ("prompts.list-null", "sends `prompts` as null", "PR-03", "prompts", None)
    ),
    *edited_results(
        "prompts/get",
        ("prompts.role-system", "sends a message with role system", "PR-08", "messages.0.role", "system"),
    ),
)


NOTES: Final = {"uri": "docs/read me.txt", "mimeType": "text/plain", "text": "Read me"}
ADDED_BLOCKS: Final = (
    _added_block(
        "prompts.any-image-broken",
        "adds an image that is not Base64 to any prompt",
        "PR-05",
        {"type": "image", "data": "<svg/>", "mimeType": "image/svg+xml"},
    ),
    _added_block(
        "prompts.any-audio-broken",
        "adds audio without a MIME type to any prompt",
        "PR-06",
        _audio("UklGRg==", ""),
    ),
    _added_block(
        "prompts.any-resource-broken",
        "adds a resource with a relative path to any prompt",
        "PR-07",
        {"type": "resource", "resource": NOTES},
    ),
)
