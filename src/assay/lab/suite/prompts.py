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
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.driver.argument import prompt_arguments, required_names
from assay.lab.harness.need import A_PROMPT, declares
from assay.lab.harness.trace.frame import Frame
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
    def given(self) -> dict[str, Any]:
        arguments = self.exchange.params.get("arguments")
        return arguments if isinstance(arguments, dict) else {}

    @property
    def missing(self) -> list[str]:
        return [name for name in required_names(self.prompt) if name not in self.given]

    @property
    def untextual(self) -> list[str]:
        """Arguments that are no text, as all arguments of prompts are."""
        return [name for name, value in self.given.items() if not isinstance(value, str)]

    @property
    def succeeded(self) -> bool:
        result = self.exchange.result
        return result is not None and result.get("resultType") != "input_required"


def listed_prompts(trace: Trace) -> dict[str, dict[str, Any]]:
    found = (prompt for one in trace.exchanges("prompts/list") for prompt in one.objects("prompts"))
    return {prompt["name"]: prompt for prompt in found if isinstance(prompt.get("name"), str)}


def prompt_gets(trace: Trace) -> Iterator[PromptGet]:
    """The answered requests for prompts that were listed."""
    prompts = listed_prompts(trace)
    for exchange in trace.exchanges("prompts/get"):
        name = exchange.params.get("name")
        if isinstance(name, str) and name in prompts and exchange.answer is not None:
            yield PromptGet(exchange, prompts[name])


# --- what is asked


@scenario("Prompts are there if they are declared", exercises=("prompts.declared",))
async def drive_declared(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("prompts/list")


@scenario(
    "The list of prompts, read on two connections",
    exercises=("prompts.available", "prompts.same-for-all"),
    needs=(declares("prompts"),),
)
async def drive_same_for_all(stage: Stage) -> None:
    one, other = await stage.open(), await stage.open()
    for peer in (one, other):
        await peer.pages("prompts/list", "prompts")
    for prompt in stage.facts.prompts[:1]:
        await one.request("prompts/get", {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)})
    for peer in (one, other, one, other):
        await peer.pages("prompts/list", "prompts")


@scenario(
    "Every prompt, with its arguments",
    exercises=("prompts.messages", "prompts.content", "prompts.internal-error"),
    needs=(A_PROMPT,),
)
async def drive_every_prompt(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")
    for prompt in stage.facts.prompts:
        await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": prompt_arguments(prompt)})


@scenario(
    "Prompts asked for in the wrong way",
    exercises=("prompts.unknown-name", "prompts.arguments"),
    needs=(A_PROMPT,),
)
async def drive_wrong_requests(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("prompts/list", "prompts")
    demanding = [prompt for prompt in stage.facts.prompts if prompt_arguments(prompt)]
    prompt = (demanding or stage.facts.prompts)[0]
    good: dict[str, Any] = prompt_arguments(prompt)
    await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": good})
    for name in list(good)[:1]:
        without = {key: value for key, value in good.items() if key != name}
        for arguments in (without, {**good, name: {"of": "the lab"}}):
            await peer.request("prompts/get", {"name": prompt.get("name"), "arguments": arguments})
    await peer.request("prompts/get", {"name": "no-such-prompt-of-the-lab"})


# --- how it is judged


@check("A server with prompts declares them", requirements=("PR-01",))
def judge_declared(trace: Trace) -> Iterator[Observation]:
    yield from observe_declared(trace, "PR-01", PROMPTS)


@check("The list of prompts is the same on every connection", requirements=("PR-04",))
def judge_same_for_all(trace: Trace) -> Iterator[Observation]:
    yield from observe_same_for_all(trace, "PR-04", PROMPTS)


@check("Declared prompts can be listed", requirements=("PR-03",))
def judge_available(trace: Trace) -> Iterator[Observation]:
    yield from observe_available(trace, "PR-03", PROMPTS)


@check("Changes of the list of prompts are announced", requirements=("PR-02",))
def judge_list_changed(trace: Trace) -> Iterator[Observation]:
    yield from observe_change_announced(trace, "PR-02", PROMPTS)


@check("Only declared changes of prompts are announced", requirements=("PR-14",))
def judge_negotiated(trace: Trace) -> Iterator[Observation]:
    yield from observe_unannounced(trace, "PR-14", PROMPTS)


@check("Messages of prompts have a role and one content block", requirements=("PR-08",))
def judge_messages(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        for message in get.exchange.items("messages"):
            problem = _problem(message)
            yield observe(
                "PR-08",
                problem is None,
                get,
                expected="role user or assistant, and one content block",
                observed=problem,
            )


def _problem(message: Any) -> str | None:
    if not isinstance(message, dict):
        return f"a message that is no object: {message!r}"
    if message.get("role") not in ("user", "assistant"):
        return f"role {message.get('role')!r}"
    content = message.get("content")
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        return f"content {str(content)[:60]}"
    return None


@check("Images, audio and resources in prompts are well encoded", requirements=("PR-05", "PR-06", "PR-07"))
def judge_content(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        for message in get.exchange.objects("messages"):
            block = message.get("content")
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(block, dict) and isinstance(kind, str) and kind in _KINDS:
                row, expected, problem_of = _KINDS[kind]
                problem = problem_of(block, get)
                yield observe(row, problem is None, get, expected=expected, observed=problem)


def _media(block: dict[str, Any], get: PromptGet) -> str | None:
    if not is_base64(block.get("data")):
        return f"data that is no base64: {str(block.get('data'))[:40]!r}"
    if not is_mime_type(block.get("mimeType")):
        return f"mimeType {block.get('mimeType')!r}"
    return None


def _resource(block: dict[str, Any], get: PromptGet) -> str | None:
    resource = block.get("resource")
    if not isinstance(resource, dict):
        return f"resource {resource!r}"
    uri = resource.get("uri")
    # What the driver itself wanted there is not the server's word.
    if not is_uri(uri) and uri not in get.given.values():
        return f"uri {uri!r}"
    if not is_mime_type(resource.get("mimeType")):
        return f"mimeType {resource.get('mimeType')!r}"
    if isinstance(resource.get("text"), str) or is_base64(resource.get("blob")):
        return None
    return "neither text nor a base64 blob"


_MEDIA: Final = "base64 data with a valid MIME type"
_KINDS: Final[dict[str, tuple[str, str, Callable[[dict[str, Any], PromptGet], str | None]]]] = {
    "image": ("PR-05", _MEDIA, _media),
    "audio": ("PR-06", _MEDIA, _media),
    "resource": ("PR-07", "a valid URI, a MIME type, and text or a base64 blob", _resource),
}
RESERVED = range(-32768, -32000 + 1)
"""Codes that JSON-RPC keeps for itself and for what is built on it. Among them a server may have a more
specific reason than "internal"; outside them nothing is a standard error."""


@check("Failures of prompts are standard errors", requirements=("PR-11",))
def judge_internal_error(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        answer = get.exchange.answer
        if answer is not None and answer.error and not get.missing and not get.untextual:
            yield observe(
                "PR-11",
                type(answer.code) is int and answer.code in RESERVED,
                get,
                expected=f"error {INTERNAL_ERROR}, or another of the standard codes",
                observed=get.exchange,
            )


@check("A prompt that does not exist is refused with -32602", requirements=("PR-09",))
def judge_unknown_name(trace: Trace) -> Iterator[Observation]:
    listed = listed_prompts(trace)
    read = any(one.result is not None for one in trace.exchanges("prompts/list"))
    for exchange in trace.exchanges("prompts/get"):
        name = exchange.params.get("name")
        if read and exchange.answer is not None and isinstance(name, str) and name not in listed:
            yield observe(
                "PR-09",
                exchange.code == INVALID_PARAMS,
                exchange,
                expected=f"error {INVALID_PARAMS}",
                observed=exchange,
            )


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
    return f"{', '.join(get.untextual)} is no text" if get.untextual else None


# --- what the checks must catch


@on_reply("every second reading of the list lacks a prompt", breaks="PR-04", transports=HTTP_ONLY)
def replicas_differ(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/list" and "cursor" not in context.params and "result" in reply:
        context.memory["read"] = context.memory.get("read", 0) + 1
        if context.memory["read"] % 2:
            del reply["result"]["prompts"][0]
    return reply


@on_reply("a prompt goes from the list once it was used", breaks="PR-04", transports=STDIO_ONLY)
def used_up(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get":
        context.memory["used"] = context.params.get("name")
    if context.method == "prompts/list" and "result" in reply:
        prompts = reply["result"]["prompts"]
        reply["result"]["prompts"] = [one for one in prompts if one["name"] != context.memory.get("used")]
    return reply


@on_reply(
    "`notifications/prompts/list_changed` is never sent",
    breaks="PR-02",
    window=lambda revision: revision.structured is not Structured.ABSENT,
    silent=True,
)
def silent_change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == "notifications/prompts/list_changed" else reply


@on_result("the content of a message is a list", breaks="PR-08", method="prompts/get")
def content_list(result: Json, context: FaultContext) -> None:
    for message in result["messages"]:
        message["content"] = [message["content"]]


@on_result("the content of a message is a string", breaks="PR-08", method="prompts/get")
def content_text(result: Json, context: FaultContext) -> None:
    for message in result["messages"]:
        message["content"] = message["content"].get("text", "")


@on_reply("the MIME type of an image is its file extension", breaks="PR-05", server="everything")
def image_extension(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            message["content"]["mimeType"] = "png"
    return reply


@on_reply("the data of an image is a URL", breaks="PR-05", server="everything")
def image_url(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            message["content"]["data"] = "https://assay.example/red.png"
    return reply


@on_reply("audio data has a prefix that is no base64", breaks="PR-06", server="everything")
def audio_data_url(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            data = f"data:audio/wav;base64,{message['content']['data']}"
            message["content"] = {"type": "audio", "data": data, "mimeType": "audio/wav"}
    return reply


@on_reply("audio has an empty MIME type", breaks="PR-06", server="everything")
def audio_untyped(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "image":
            message["content"] = {"type": "audio", "data": message["content"]["data"], "mimeType": ""}
    return reply


@on_reply("the blob of an embedded resource is no base64", breaks="PR-07", server="everything")
def resource_hex(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "resource":
            message["content"]["resource"].pop("text")
            message["content"]["resource"]["blob"] = "89:50:4e:47"
    return reply


@on_reply("the URI of an embedded resource is a relative path", breaks="PR-07", server="everything")
def resource_path(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "resource":
            message["content"]["resource"]["uri"] = "docs/read me.txt"
    return reply


@on_reply("an embedded resource has no MIME type", breaks="PR-07", server="everything")
def resource_untyped(reply: Json, context: FaultContext) -> Json:
    for message in reply.get("result", {}).get("messages", []):
        if message["content"]["type"] == "resource":
            message["content"]["resource"].pop("mimeType")
    return reply


@on_reply("a prompt that cannot be made is error 0", breaks="PR-11")
def failure_code_zero(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "result" in reply:
        error = {"code": 0, "message": "template engine is not running"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply


@on_reply("an unknown prompt is an empty one", breaks="PR-09")
def unknown_empty(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "no-such" in str(context.params.get("name")):
        return {"jsonrpc": "2.0", "id": reply["id"], "result": {"messages": [], "resultType": "complete"}}
    return reply


@on_reply("an unknown prompt gets -32601", breaks="PR-09")
def unknown_not_found(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "no-such" in str(context.params.get("name")):
        reply["error"]["code"] = METHOD_NOT_FOUND
    return reply


@on_reply("a missing argument gets -32603", breaks="PR-10")
def missing_is_a_crash(reply: Json, context: FaultContext) -> Json:
    arguments = context.params.get("arguments")
    if context.method == "prompts/get" and "error" in reply and arguments == {}:
        reply["error"] = {"code": INTERNAL_ERROR, "message": "cannot read properties of undefined"}
    return reply


@on_reply("a missing argument is not noticed", breaks="PR-12")
def missing_is_undefined(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get" and "error" in reply and context.params.get("arguments") == {}:
        message = {"role": "user", "content": {"type": "text", "text": "Please review: undefined"}}
        result = {"messages": [message], "resultType": "complete"}
        return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
    return reply


RESULT_EDITS: Final = (
    *edited_results(
        ("initialize", "server/discover"),
        (
            "prompts.undeclared",
            "the capabilities do not mention prompts",
            "PR-01",
            "capabilities.prompts",
            ABSENT,
        ),
        (
            "prompts.undeclared-notices",
            "the capabilities do not mention `prompts.listChanged`",
            "PR-14",
            "capabilities.prompts",
            {},
        ),
    ),
    *edited_results("prompts/list", ("prompts.list-null", "`prompts` is null", "PR-03", "prompts", None)),
    *edited_results(
        "prompts/get",
        ("prompts.role-system", "a message has role system", "PR-08", "messages.0.role", "system"),
    ),
)
