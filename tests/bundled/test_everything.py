"""In every handshake revision, the everything server answers as conformance suites expect."""

import asyncio
import io
import json
import struct
import wave
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from assay.bundled.everything import RED_PIXEL, SILENCE, server
from assay.revisions.registry import BY_DATE, HANDSHAKE
from assay.revisions.revision import TaskForm
from tests.bundled.client import Client

HANDSHAKE_DATES = [revision.date for revision in HANDSHAKE]
NEWEST = HANDSHAKE_DATES[-1]
WITH_AUDIO = [revision.date for revision in HANDSHAKE if "audio" in revision.content]
WITH_FORMS = [revision.date for revision in HANDSHAKE if "form" in revision.elicitation]
WITH_MULTI_SELECT = [revision.date for revision in HANDSHAKE if revision.multi_select]
PNG = b64encode(RED_PIXEL).decode()
WAV = b64encode(SILENCE).decode()
WATCHED = "test://watched-resource"
TEXT = "Watched resource content"


def without(dates: list[str]) -> list[str]:
    return [date for date in HANDSHAKE_DATES if date not in dates]


Connect = Callable[..., Awaitable[Client]]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Initialized clients with these answers to requests."""
    clients: list[Client] = []

    async def open_client(date: str = NEWEST, **answers: Any) -> Client:
        client = Client(date, {method.replace("_", "/"): answer for method, answer in answers.items()})
        clients.append(client)
        await client.open()
        return client

    yield open_client
    for client in clients:
        server.close_session(client.scope.session)


def text_result(text: str) -> dict[str, Any]:
    return tool_result({"type": "text", "text": text})


def tool_result(*content: dict[str, Any]) -> dict[str, Any]:
    return {"content": list(content), "isError": False}


def user(content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": content}


def prompt_result(*contents: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [user(content) for content in contents]}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}

TOOLS: dict[str, Any] = {
    "test_simple_text": text_result("This is a simple text response for testing."),
    "test_image_content": tool_result(IMAGE),
    "test_embedded_resource": tool_result(
        {
            "type": "resource",
            "resource": {
                "uri": "test://embedded-resource",
                "mimeType": "text/plain",
                "text": "This is an embedded resource content.",
            },
        }
    ),
    "test_multiple_content_types": tool_result(
        {"type": "text", "text": "Multiple content types test:"},
        IMAGE,
        {
            "type": "resource",
            "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": '{"test":"data","value":123}',
            },
        },
    ),
    "test_error_handling": {
        "isError": True,
        "content": [{"type": "text", "text": "This tool intentionally returns an error for testing"}],
    },
}

RESOURCES: dict[str, Any] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://template/123/data": {
        "mimeType": "application/json",
        "text": '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
    },
    WATCHED: {"mimeType": "text/plain", "text": TEXT},
}

PROMPTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "test_simple_prompt": (
        {},
        prompt_result(
            {"type": "text", "text": "This is a simple prompt for testing."},
        ),
    ),
    "test_prompt_with_arguments": (
        {"arg1": "hello", "arg2": "world"},
        prompt_result(
            {"type": "text", "text": "Prompt with arguments: arg1='hello', arg2='world'"},
        ),
    ),
    "test_prompt_with_embedded_resource": (
        {"resourceUri": "test://example-resource"},
        prompt_result(
            {
                "type": "resource",
                "resource": {
                    "uri": "test://example-resource",
                    "mimeType": "text/plain",
                    "text": "Embedded resource content for testing.",
                },
            },
            {"type": "text", "text": "Please process the embedded resource above."},
        ),
    ),
    "test_prompt_with_image": (
        {},
        prompt_result(
            IMAGE,
            {"type": "text", "text": "Please analyze the image above."},
        ),
    ),
}


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_the_handshake_names_the_server_and_declares_every_capability(date: str) -> None:
    client = Client(date, {})
    opened = await client.open()
    server.close_session(client.scope.session)
    declared = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "logging": {},
        "completions": {},
    }
    revision = BY_DATE[date]
    tasks = {"tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}
    skills = {"extensions": {"io.modelcontextprotocol/skills": {"directoryRead": True}}}
    known = {name: details for name, details in declared.items() if name in revision.capabilities}
    assert opened == {
        "protocolVersion": date,
        "capabilities": known | (tasks if revision.tasks is TaskForm.CORE else {}) | skills,
        "serverInfo": {
            "name": "mcp-conformance-test-server",
            "version": "1.0.0",
            "title": "MCP Conformance Test Server",
        },
    }


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_the_tool_list_begins_with_the_harmless_one_and_describes_all(
    connect: Connect, date: str
) -> None:
    tools = (await (await connect(date)).result("tools/list"))["tools"]
    only_as_tasks = set() if BY_DATE[date].tasks is TaskForm.CORE else {"protocol_error_job", "failing_job"}
    names = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_logging",
        "test_tool_with_progress",
        "test_reconnection",
        "test_update_watched_resource",
        "test_sampling",
        "test_elicitation",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
        "test_streaming_elicitation",
        "test_input_required_result_tampered_state",
        "test_input_required_result_request_state",
        "test_input_required_result_capabilities",
        "test_missing_capability",
        "test_logging_tool",
        "test_header_parameter",
        "test_trigger_tool_change",
        "test_trigger_prompt_change",
        "json_schema_2020_12_tool",
        "greet",
        "slow_compute",
        "protocol_error_job",
        "confirm_delete",
        "multi_input",
        "failing_job",
        "test_tool_with_task",
    ]
    assert [tool["name"] for tool in tools] == [name for name in names if name not in only_as_tasks]
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools)


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
@pytest.mark.parametrize("name", TOOLS)
async def test_a_tool_answers_with_its_content(connect: Connect, date: str, name: str) -> None:
    assert await (await connect(date)).tool(name) == TOOLS[name]


async def test_arguments_may_be_left_out(connect: Connect) -> None:
    client = await connect()
    assert await client.result("tools/call", {"name": "test_simple_text"}) == TOOLS["test_simple_text"]


@pytest.mark.parametrize("date", WITH_AUDIO)
async def test_audio_is_sent_as_audio(connect: Connect, date: str) -> None:
    answer = await (await connect(date)).tool("test_audio_content")
    assert answer == tool_result({"type": "audio", "data": WAV, "mimeType": "audio/wav"})


@pytest.mark.parametrize("date", without(WITH_AUDIO))
async def test_audio_is_embedded_where_the_revision_has_no_audio(connect: Connect, date: str) -> None:
    (block,) = (await (await connect(date)).tool("test_audio_content"))["content"]
    assert (block["type"], block["resource"]["mimeType"], block["resource"]["blob"]) == (
        "resource",
        "audio/wav",
        WAV,
    )


def test_the_image_is_one_red_pixel() -> None:
    assert RED_PIXEL[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, rest = {}, RED_PIXEL[8:]
    while rest:
        (size,), kind = struct.unpack(">I", rest[:4]), rest[4:8]
        data, (checksum,) = rest[8 : 8 + size], struct.unpack(">I", rest[8 + size : 12 + size])
        assert zlib.crc32(kind + data) == checksum
        chunks[kind], rest = data, rest[12 + size :]
    assert struct.unpack(">IIBB", chunks[b"IHDR"][:10]) == (1, 1, 8, 2)
    assert zlib.decompress(chunks[b"IDAT"]) == b"\0\xff\0\0"
    assert b"IEND" in chunks


def test_the_recording_is_readable_silence() -> None:
    with wave.open(io.BytesIO(SILENCE)) as recording:
        assert (recording.getnchannels(), recording.getsampwidth(), recording.getframerate()) == (1, 1, 8000)
        assert set(recording.readframes(recording.getnframes())) == {0x80}


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_the_logging_tool_logs_three_times(connect: Connect, date: str) -> None:
    client = await connect(date)
    assert await client.result("logging/setLevel", {"level": "debug"}) == {}
    assert await client.tool("test_tool_with_logging") == text_result(
        "Tool with logging executed successfully"
    )
    assert client.sent == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": {"level": "info", "logger": "conformance-test-server", "data": data},
        }
        for data in ("Tool execution started", "Tool processing data", "Tool execution completed")
    ]


async def test_a_higher_level_silences_the_logging_tool(connect: Connect) -> None:
    client = await connect()
    await client.result("logging/setLevel", {"level": "warning"})
    await client.tool("test_tool_with_logging")
    assert client.sent == []


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_the_progress_tool_reports_to_the_token(connect: Connect, date: str) -> None:
    client = await connect(date)
    params = {"name": "test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": "token-1"}}
    assert await client.result("tools/call", params) == text_result(
        "Tool with progress executed successfully"
    )
    assert client.sent == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": "token-1", "progress": progress, "total": 100},
        }
        for progress in (0, 50, 100)
    ]


async def test_the_progress_tool_is_silent_without_a_token(connect: Connect) -> None:
    client = await connect()
    assert await client.tool("test_tool_with_progress") == text_result(
        "Tool with progress executed successfully"
    )
    assert client.sent == []


async def test_the_reconnection_tool_closes_its_stream_and_then_answers(connect: Connect) -> None:
    client = await connect()
    answer = await client.tool("test_reconnection")
    assert answer["content"][0]["text"].startswith("Reconnection test completed successfully")
    assert client.detached == [0.5]


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_sampling_asks_the_model_and_passes_its_answer_on(connect: Connect, date: str) -> None:
    sampled = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "test-model"}
    client = await connect(date, sampling_createMessage=sampled)
    assert await client.tool("test_sampling", prompt="Capital of France?") == text_result(
        "LLM response: Paris"
    )
    (request,) = client.sent
    assert request["method"] == "sampling/createMessage"
    message = user({"type": "text", "text": "Capital of France?"})
    assert request["params"] == {"messages": [message], "maxTokens": 100}


ELICITATION_FORM = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS_FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
    "required": [],
}


@pytest.mark.parametrize("date", WITH_FORMS)
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            {"action": "accept", "content": {"username": "ann", "email": "ann@example.com"}},
            'User response: action=accept, content={"username":"ann","email":"ann@example.com"}',
        ),
        ({"action": "decline"}, "User response: action=decline, content={}"),
        ({"action": "cancel"}, "User response: action=cancel, content={}"),
    ],
    ids=["accept", "decline", "cancel"],
)
async def test_elicitation_asks_the_user_and_tells_the_outcome(
    connect: Connect, date: str, answer: dict[str, Any], text: str
) -> None:
    client = await connect(date, elicitation_create=answer)
    assert await client.tool("test_elicitation", message="Who are you?") == text_result(text)
    (request,) = client.sent
    assert request["method"] == "elicitation/create"
    assert request["params"] == {"message": "Who are you?", "requestedSchema": ELICITATION_FORM}


@pytest.mark.parametrize("date", WITH_FORMS)
async def test_the_defaults_form_carries_a_default_of_every_type(connect: Connect, date: str) -> None:
    """SEP-1034."""
    client = await connect(date, elicitation_create={"action": "accept", "content": {"age": 31}})
    answer = await client.tool("test_elicitation_sep1034_defaults")
    assert answer == text_result('Elicitation completed: action=accept, content={"age":31}')
    assert client.sent[0]["params"] == {
        "message": "Please review and update the form fields with defaults",
        "requestedSchema": DEFAULTS_FORM,
    }


def described(value: Any) -> bool:
    return isinstance(value.pop("description"), str)


@pytest.mark.parametrize("date", WITH_MULTI_SELECT)
async def test_the_choices_form_has_every_way_to_offer_a_choice(connect: Connect, date: str) -> None:
    """SEP-1330."""
    content = {
        "untitledSingle": "option1",
        "titledSingle": "value1",
        "legacyEnum": "opt1",
        "untitledMulti": ["option1", "option2"],
        "titledMulti": ["value1", "value2"],
    }
    client = await connect(date, elicitation_create={"action": "accept", "content": content})
    answer = await client.tool("test_elicitation_sep1330_enums")
    chosen = json.dumps(content, separators=(",", ":"))
    assert answer == text_result(f"Elicitation completed: action=accept, content={chosen}")
    fields = client.sent[0]["params"]["requestedSchema"]["properties"]
    assert all(described(field) for field in fields.values())
    options = ["option1", "option2", "option3"]
    names = ("First Option", "Second Option", "Third Option")
    values = [{"const": f"value{number}", "title": title} for number, title in enumerate(names, 1)]
    several = {"type": "array", "minItems": 1, "maxItems": 3}
    assert fields == {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": values},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {**several, "items": {"type": "string", "enum": options}},
        "titledMulti": {**several, "items": {"anyOf": values}},
    }


@pytest.mark.parametrize(
    ("name", "arguments", "missing"),
    [
        ("test_sampling", {"prompt": "hi"}, "sampling"),
        ("test_elicitation", {"message": "hi"}, "elicitation"),
        ("test_elicitation_sep1034_defaults", {}, "elicitation"),
        ("test_elicitation_sep1330_enums", {}, "elicitation"),
    ],
)
@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_a_client_that_cannot_be_asked_gets_an_error_result(
    connect: Connect, date: str, name: str, arguments: dict[str, str], missing: str
) -> None:
    client = await connect(date)
    answer = await client.tool(name, **arguments)
    assert answer["isError"] is True
    assert missing in answer["content"][0]["text"]
    assert client.sent == []


async def test_the_ready_made_schema_reaches_the_client_whole_and_is_enforced(connect: Connect) -> None:
    client = await connect()
    listed = (await client.result("tools/list"))["tools"]
    schema = next(tool["inputSchema"] for tool in listed if tool["name"] == "json_schema_2020_12_tool")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$defs"]["address"]["$anchor"] == "addressDef"
    assert schema["additionalProperties"] is False
    assert schema["allOf"] == [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}]
    assert schema["then"] == {"required": ["phone"]}
    assert schema["else"] == {"required": ["email"]}
    assert schema["if"]["properties"] == {"contactMethod": {"const": "phone"}}
    good = await client.tool("json_schema_2020_12_tool", name="Ann", contactMethod="phone", phone="1")
    assert good == text_result(
        'JSON Schema 2020-12 tool called with: {"name":"Ann","contactMethod":"phone","phone":"1"}'
    )
    for bad in ({"contactMethod": "phone", "email": "a@b"}, {"email": "a@b", "other": 1}):
        assert (await client.tool("json_schema_2020_12_tool", **bad))["isError"] is True


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_resources_and_the_template_are_listed(connect: Connect, date: str) -> None:
    client = await connect(date)
    listed = (await client.result("resources/list"))["resources"]
    skills = [resource for resource in listed if resource["uri"].startswith("skill://")]
    assert len(skills) == 2
    assert {"resources": [resource for resource in listed if resource not in skills]} == {
        "resources": [
            {
                "uri": "test://static-text",
                "name": "Static Text Resource",
                "description": "A static text resource for testing",
                "mimeType": "text/plain",
            },
            {
                "uri": "test://static-binary",
                "name": "Static Binary Resource",
                "description": "A static binary resource (image) for testing",
                "mimeType": "image/png",
            },
            {
                "uri": WATCHED,
                "name": "Watched Resource",
                "description": "A resource that can be subscribed to",
                "mimeType": "text/plain",
            },
        ]
    }
    assert await client.result("resources/templates/list") == {
        "resourceTemplates": [
            {
                "uriTemplate": "test://template/{id}/data",
                "name": "Resource Template",
                "description": "A resource template with parameter substitution",
                "mimeType": "application/json",
            }
        ]
    }


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
@pytest.mark.parametrize("uri", RESOURCES)
async def test_a_resource_is_read(connect: Connect, date: str, uri: str) -> None:
    answer = await (await connect(date)).result("resources/read", {"uri": uri})
    assert answer == {"contents": [{"uri": uri, **RESOURCES[uri]}]}


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_subscribers_hear_of_an_update_until_they_unsubscribe(connect: Connect, date: str) -> None:
    here, there = await connect(date), await connect(date)
    for client in (here, there):
        assert await client.result("resources/subscribe", {"uri": WATCHED}) == {}
    update = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": WATCHED}}
    try:
        await here.tool("test_update_watched_resource")
        async with asyncio.timeout(5):
            assert [await here.posted.get(), await there.posted.get()] == [update, update]
        read = await here.result("resources/read", {"uri": WATCHED})
        assert read["contents"][0]["text"] == "Watched resource content, changed"
        assert await here.result("resources/unsubscribe", {"uri": WATCHED}) == {}
    finally:
        await here.tool("test_update_watched_resource", text=TEXT)
    async with asyncio.timeout(5):
        assert await there.posted.get() == update
    assert here.posted.empty()


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
async def test_prompts_are_listed_with_their_arguments(connect: Connect, date: str) -> None:
    def argument(name: str, description: str) -> dict[str, Any]:
        return {"name": name, "description": description, "required": True}

    assert await (await connect(date)).result("prompts/list") == {
        "prompts": [
            {
                "name": "test_input_required_result_prompt",
                "description": "A prompt that asks for its context first",
            },
            {"name": "test_simple_prompt", "description": "A simple prompt without arguments"},
            {
                "name": "test_prompt_with_arguments",
                "description": "A prompt with required arguments",
                "arguments": [
                    argument("arg1", "First test argument"),
                    argument("arg2", "Second test argument"),
                ],
            },
            {
                "name": "test_prompt_with_embedded_resource",
                "description": "A prompt that includes an embedded resource",
                "arguments": [argument("resourceUri", "URI of the resource to embed")],
            },
            {"name": "test_prompt_with_image", "description": "A prompt that includes an image"},
        ]
    }


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
@pytest.mark.parametrize("name", PROMPTS)
async def test_a_prompt_is_filled_in(connect: Connect, date: str, name: str) -> None:
    arguments, expected = PROMPTS[name]
    answer = await (await connect(date)).result("prompts/get", {"name": name, "arguments": arguments})
    assert answer == expected


@pytest.mark.parametrize("date", HANDSHAKE_DATES)
@pytest.mark.parametrize("argument", ["arg1", "arg2"])
@pytest.mark.parametrize(
    ("value", "values"), [("par", ["paris", "park", "party"]), ("test", ["test", "testing"]), ("xyz", [])]
)
async def test_arguments_are_completed_best_first(
    connect: Connect, date: str, argument: str, value: str, values: list[str]
) -> None:
    ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    params = {"ref": ref, "argument": {"name": argument, "value": value}}
    answer = await (await connect(date)).result("completion/complete", params)
    assert answer == {"completion": {"values": values, "total": len(values), "hasMore": False}}
