"""The fixtures of the protocol itself. Handlers are `async def` because none of them blocks; `def` handlers
would run in threads."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import Sequence
from typing import Annotated, Any

from assay import Audio, Contents, Context, Elicited, EmbeddedResource, Header, Image, Server, Text, ToolError

RED_PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
)
SILENCE = b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==")
PAUSE = 0.05
"""Seconds between two messages of a tool, so that clients receive them one by one."""
LOGGER = "conformance-test-server"
WATCHED = "test://watched-resource"
SUGGESTIONS = ["london", "paris", "park", "party", "rome", "test", "testing", "tokyo"]

server = Server("mcp-conformance-test-server", version="1.0.0", title="MCP Conformance Test Server")
texts = {WATCHED: "Watched resource content"}


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


# Tools that return each type of content.


@server.tool
async def test_simple_text() -> str:
    """Tests simple text content response"""
    return "This is a simple text response for testing."


@server.tool
async def test_image_content() -> Image:
    """Tests image content response"""
    return Image(RED_PIXEL, "image/png")


@server.tool
async def test_audio_content() -> Audio:
    """Tests audio content response"""
    return Audio(SILENCE, "audio/wav")


@server.tool
async def test_embedded_resource() -> EmbeddedResource:
    """Tests embedded resource content response"""
    text = "This is an embedded resource content."
    return EmbeddedResource(Contents("test://embedded-resource", text=text, mime_type="text/plain"))


@server.tool
async def test_multiple_content_types() -> list[Text | Image | EmbeddedResource]:
    """Tests response with multiple content types (text, image, resource)"""
    data = compact({"test": "data", "value": 123})
    contents = Contents("test://mixed-content-resource", text=data, mime_type="application/json")
    return [Text("Multiple content types test:"), Image(RED_PIXEL, "image/png"), EmbeddedResource(contents)]


@server.tool
async def test_error_handling() -> str:
    """Tests error response handling"""
    raise ToolError("This tool intentionally returns an error for testing")


# Tools that send messages to the client while they run.


@server.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Tests tool that emits log messages during execution"""
    await ctx.log("info", "Tool execution started", logger=LOGGER)
    await asyncio.sleep(PAUSE)
    await ctx.log("info", "Tool processing data", logger=LOGGER)
    await asyncio.sleep(PAUSE)
    await ctx.log("info", "Tool execution completed", logger=LOGGER)
    return "Tool with logging executed successfully"


@server.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Tests tool that reports progress notifications"""
    await ctx.progress(0, total=100)
    await asyncio.sleep(PAUSE)
    await ctx.progress(50, total=100)
    await asyncio.sleep(PAUSE)
    await ctx.progress(100, total=100)
    return "Tool with progress executed successfully"


@server.tool
async def test_reconnection(ctx: Context) -> str:
    """Tests a stream that closes during the call: the client reconnects for the result"""
    await ctx.close_stream(retry=0.5)
    await asyncio.sleep(PAUSE)
    return "Reconnection test completed successfully. If you received this, the client reconnected properly."


@server.tool
async def test_update_watched_resource(ctx: Context, text: str = "Watched resource content, changed") -> str:
    """Changes the text of test://watched-resource and notifies its subscribers"""
    texts[WATCHED] = text
    ctx.server.resource_updated(WATCHED)
    return f"Changed {WATCHED}"


# Tools that ask the client. A client that cannot be asked gets an error result.


@server.tool
async def test_sampling(prompt: Annotated[str, "The prompt to send to the LLM"], ctx: Context) -> str:
    """Tests server-initiated sampling (LLM completion request)"""
    sampled = await ctx.sample(prompt, max_tokens=100)
    return f"LLM response: {sampled.text}"


@server.tool
async def test_elicitation(message: Annotated[str, "The message to show the user"], ctx: Context) -> str:
    """Tests server-initiated elicitation (user input request)"""
    fields = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    return f"User response: {outcome(await ctx.elicit(message, form(fields, required=list(fields))))}"


@server.tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Tests elicitation with default values for every primitive type (SEP-1034)"""
    status = ["active", "inactive", "pending"]
    fields = {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "description": "User status", "enum": status, "default": "active"},
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    }
    elicited = await ctx.elicit("Please review and update the form fields with defaults", form(fields))
    return f"Elicitation completed: {outcome(elicited)}"


@server.tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Tests elicitation with every way to offer a choice (SEP-1330)"""
    options = ["option1", "option2", "option3"]
    values = [
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]
    several = {"type": "array", "description": "Select several options", "minItems": 1, "maxItems": 3}
    fields = {
        "untitledSingle": {"type": "string", "description": "Select one option", "enum": options},
        "titledSingle": {"type": "string", "description": "Select one titled option", "oneOf": values},
        "legacyEnum": {
            "type": "string",
            "description": "Select one option named beside its value",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": several | {"items": {"type": "string", "enum": options}},
        "titledMulti": several | {"items": {"anyOf": values}},
    }
    elicited = await ctx.elicit("Please select options from the enum fields", form(fields))
    return f"Elicitation completed: {outcome(elicited)}"


def form(fields: dict[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


def outcome(elicited: Elicited[dict[str, Any]]) -> str:
    return f"action={elicited.action}, content={compact(elicited.content or {})}"


# Tools whose questions have keys. In revisions where the client answers by a retry, it answers by key.


def form_with(name: str, kind: str = "string") -> dict[str, Any]:
    return form({name: {"type": kind}}, required=[name])


@server.tool
async def test_input_required_result_elicitation(ctx: Context) -> str:
    """Asks for a name"""
    elicited = await ctx.elicit("What is your name?", form_with("name"), key="user_name")
    return f"Hello, {elicited.data['name']}!" if elicited.accepted else "Hello, stranger!"


@server.tool
async def test_input_required_result_sampling(ctx: Context) -> str:
    """Asks the client's model"""
    return (await ctx.sample("What is the capital of France?", max_tokens=100, key="capital_question")).text


@server.tool
async def test_input_required_result_list_roots(ctx: Context) -> str:
    """Asks for the client's roots"""
    return compact([root.uri for root in await ctx.roots(key="client_roots")])


@server.tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Asks three questions at once"""
    elicited, sampled, roots = await asyncio.gather(
        ctx.elicit("What is your name?", form_with("name"), key="user_name"),
        ctx.sample("Say hello", max_tokens=100, key="greeting"),
        ctx.roots(key="client_roots"),
    )
    return f"{outcome(elicited)}; {sampled.text}; {len(roots)} roots"


@server.tool
async def test_input_required_result_multi_round(ctx: Context) -> str:
    """Asks a second question after the first is answered"""
    first = await ctx.elicit("Step 1: What is your name?", form_with("name"), key="step1")
    second = await ctx.elicit("Step 2: What is your favorite color?", form_with("color"), key="step2")
    return f"{outcome(first)}; {outcome(second)}"


@server.tool(name="test_input_required_result_request_state")
@server.tool(name="test_input_required_result_tampered_state")
@server.tool(name="test_streaming_elicitation")
async def confirm(ctx: Context) -> str:
    """Asks for a confirmation, with state that the client returns"""
    elicited = await ctx.elicit("Please confirm", form_with("ok", "boolean"), key="confirm")
    return f"state-ok: {outcome(elicited)}"


@server.tool
async def test_input_required_result_capabilities(ctx: Context) -> str:
    """Asks a question that the client supports"""
    if ctx.client_capabilities.elicitation is not None:
        return outcome(await ctx.elicit("What is your name?", form_with("name"), key="user_name"))
    return (await ctx.sample("Invent a name", max_tokens=100, key="invented_name")).text


@server.prompt
async def test_input_required_result_prompt(ctx: Context) -> str:
    """A prompt that asks for its context first"""
    reply = await ctx.elicit("What context should the prompt use?", form_with("context"), key="user_context")
    return f"Use this context: {compact(reply.content)}"


@server.tool
async def test_missing_capability(ctx: Context) -> str:
    """Requires a client that supports sampling"""
    return (await ctx.sample("Hello", max_tokens=10)).text


@server.tool
async def test_logging_tool(ctx: Context) -> str:
    """Logs one message, if the client asked for log messages"""
    await ctx.log("info", "A message from the logging tool", logger=LOGGER)
    return "Logged"


@server.tool(annotations={"readOnlyHint": True})
async def test_header_parameter(
    region: Annotated[str, "Where to look", Header("Region")], depth: Annotated[int, Header("Depth")] = 1
) -> str:
    """A tool with a parameter that clients repeat in the header Mcp-Param-Region"""
    return f"Looked in {region}"


# Tools that change the lists of the server, so that clients are notified.


@server.tool
async def test_trigger_tool_change(ctx: Context) -> str:
    """Adds a tool, or removes it if it exists"""
    return toggle(ctx.server.tools, confirm, "passing_tool")


@server.tool
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Adds a prompt, or removes it if it exists"""
    return toggle(ctx.server.prompts, test_simple_prompt, "passing_prompt")


def toggle(registry: Any, function: Any, name: str) -> str:
    if any(registered.name == name for registered in registry.list()):
        registry.remove(name)
        return f"Removed {name}"
    registry.add(function, name=name)
    return f"Added {name}"


# A tool with an explicit input schema: clients see it unchanged, and arguments are validated against it.


@server.tool(
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "additionalProperties": False,
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
    }
)
async def json_schema_2020_12_tool(**arguments: Any) -> str:
    """Tests that the keywords of JSON Schema 2020-12 are preserved"""
    return f"JSON Schema 2020-12 tool called with: {compact(arguments)}"


# Resources.


@server.resource("test://static-text", name="Static Text Resource", mime_type="text/plain")
async def static_text() -> str:
    """A static text resource for testing"""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", name="Static Binary Resource", mime_type="image/png")
async def static_binary() -> bytes:
    """A static binary resource (image) for testing"""
    return RED_PIXEL


@server.resource("test://template/{id}/data", name="Resource Template", mime_type="application/json")
async def template_data(id: str) -> str:
    """A resource template with parameter substitution"""
    return compact({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource(WATCHED, name="Watched Resource", mime_type="text/plain")
async def watched_resource() -> str:
    """A resource that can be subscribed to"""
    return texts[WATCHED]


# Prompts, and completion of their arguments.


@server.prompt
async def test_simple_prompt() -> str:
    """A simple prompt without arguments"""
    return "This is a simple prompt for testing."


@server.prompt
async def test_prompt_with_arguments(
    arg1: Annotated[str, "First test argument"], arg2: Annotated[str, "Second test argument"]
) -> str:
    """A prompt with required arguments"""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt
async def test_prompt_with_embedded_resource(
    resourceUri: Annotated[str, "URI of the resource to embed"],
) -> list[EmbeddedResource | Text]:
    """A prompt that includes an embedded resource"""
    text = "Embedded resource content for testing."
    contents = Contents(resourceUri, text=text, mime_type="text/plain")
    return [EmbeddedResource(contents), Text("Please process the embedded resource above.")]


@server.prompt
async def test_prompt_with_image() -> list[Image | Text]:
    """A prompt that includes an image"""
    return [Image(RED_PIXEL, "image/png"), Text("Please analyze the image above.")]


@server.completion("test_prompt_with_arguments", "arg1")
@server.completion("test_prompt_with_arguments", "arg2")
async def suggestions() -> list[str]:
    return SUGGESTIONS
