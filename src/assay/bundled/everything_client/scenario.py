"""What the client does in each scenario of the official conformance suite.

Each function shows one feature of `Client`. `connect` is `Client` for the suite's server.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from assay import Client, ElicitationRequest, InvalidAnswer, SamplingRequest, Skill

from .authorization import as_employee, as_program, as_user, as_workload
from .form import fill
from .task import Connect, Task

Scenario = Callable[[Connect, Task], Coroutine[Any, Any, None]]

ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "valid_tool": {"region": "us-west1"},
    "invalid_object_header": {"data": {}},
    "invalid_array_header": {"items": ["text"]},
    "invalid_null_header": {"nil": None},
    "invalid_number_header": {"score": 1.5},
}
"""Arguments of tools whose schemas mark them for headers, most of them wrongly."""


async def list_tools(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        await client.tools()


async def call_a_tool(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        await client.tools()
        await client.call("add_numbers", a=5, b=3)


async def fill_a_form(connect: Connect, _task: Task) -> None:
    async with connect(elicitation=fill) as client:
        await client.call("test_client_elicitation_defaults")


async def resume_a_stream(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        await client.tools()
        await client.call("test_reconnection")


async def declare_capabilities(connect: Connect, _task: Task) -> None:
    async with connect(elicitation=fill, sampling=answer_as_model, roots=["."]) as client:
        await client.tools()
        await client.tools()


def answer_as_model(_request: SamplingRequest) -> str:
    return "an answer"


async def return_the_request_state(connect: Connect, _task: Task) -> None:
    async def confirm(request: ElicitationRequest) -> dict[str, Any]:
        await client.call("test_mrtr_unrelated")
        return fill(request)

    client: Client = connect(elicitation=confirm)
    async with client:
        await client.tools()
        for name in ("test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"):
            await client.call(name)


async def send_standard_headers(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        await client.tools()
        await client.call("test_headers")
        await client.call("my-hyphenated-tool")
        await client.resources()
        await client.read("file:///path/to/file%20name.txt")
        await client.read("https://example.com/resource?id=123")
        await client.prompts()
        await client.prompt("test_prompt")


async def send_arguments_as_headers(connect: Connect, task: Task) -> None:
    async with connect() as client:
        await client.tools()
        for call in task.value("toolCalls"):
            await client.call_tool(call["name"], call["arguments"])


async def leave_out_invalid_tools(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        for tool in await client.tools():
            await client.call_tool(tool.name, ARGUMENTS.get(tool.name, {}))


async def return_a_schema(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        schemas = {tool.name: tool.input_schema for tool in await client.tools()}
        await client.call("json_schema_echo", schema=schemas["json_schema_2020_12_tool"])


async def list_skills(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        await client.skills()


async def load_skills(connect: Connect, _task: Task) -> None:
    async with connect() as client:
        for skill in await client.skills():
            try:
                await load_skill(client, skill)
            except InvalidAnswer as error:
                print(f"the skill {skill.name!r} is not used: {error}")


async def load_skill(client: Client, skill: Skill) -> None:
    loaded = await client.load_skill(skill)
    for file in skill.resources if isinstance(skill.resources, list) else ():
        if file.uri != skill.uri:
            await client.skill_file(loaded, file.uri)


def protected(authorize: Callable[[Task], Any]) -> Scenario:
    """Use a tool of a server that needs a token."""

    async def use_a_tool(connect: Connect, task: Task) -> None:
        async with connect(auth=authorize(task)) as client:
            await client.tools()
            await client.call("test-tool")

    return use_a_tool


SCENARIOS: Final[dict[str, Scenario]] = {
    "initialize": list_tools,
    "tools_call": call_a_tool,
    "elicitation-sep1034-client-defaults": fill_a_form,
    "sse-retry": resume_a_stream,
    "request-metadata": declare_capabilities,
    "sep-2322-client-request-state": return_the_request_state,
    "http-standard-headers": send_standard_headers,
    "http-custom-headers": send_arguments_as_headers,
    "http-invalid-tool-headers": leave_out_invalid_tools,
    "json-schema-ref-no-deref": list_tools,
    "json-schema-2020-12-preservation": return_a_schema,
    "sep-2640-client-no-prefetch": list_skills,
    "sep-2640-client-verify-digest": load_skills,
    "sep-2640-client-verify-size": load_skills,
    "sep-2640-client-verify-frontmatter": load_skills,
    "auth/client-credentials-basic": protected(as_program),
    "auth/client-credentials-jwt": protected(as_program),
    "auth/wif-jwt-bearer": protected(as_workload),
    "auth/enterprise-managed-authorization": protected(as_employee),
}
AUTHORIZED_BY_USER: Final = protected(as_user)


def scenario_named(name: str) -> Scenario | None:
    """The function for a scenario. In all `auth/` scenarios that the table does not have, a user authorizes
    the client; only the authorization server differs."""
    return SCENARIOS.get(name, AUTHORIZED_BY_USER if name.startswith("auth/") else None)
