"""The double of the tasks extension: what it answers itself, and what it leaves to the server."""

from typing import Any

import pytest

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.fixture import UNDECLARED
from assay.lab.everything.tasks.task import DECLARED
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, LocalAnswer, Request
from assay.lab.harness.transport import Transport
from assay.lab.suite.extension_method import TASKS
from assay.revisions.registry import PER_REQUEST
from tests.lab.traces import request, result

KNOWING = {CAPABILITIES_KEY: DECLARED}


@pytest.fixture
def context() -> FaultContext:
    return FaultContext(Transport.STDIO, PER_REQUEST[-1])


def answer(context: FaultContext, method: str, meta: Any = KNOWING, **params: Any) -> Json:
    answered = DOUBLE.request(request(1, method, _meta=meta, **params), context)
    assert isinstance(answered, LocalAnswer)
    (message,) = answered.messages
    return {**message, "status": answered.status}


def task(context: FaultContext, tool: str, **arguments: Any) -> str:
    made = answer(context, "tools/call", name=tool, arguments=arguments)["result"]
    assert made["resultType"] == "task"
    return str(made["taskId"])


def test_other_tools_and_other_revisions_are_left_to_the_server(context: FaultContext) -> None:
    for asked in (
        request(1, "tools/call", name="test_simple_text", _meta=KNOWING),
        request(1, "tools/call", name="greet"),
        request(1, "tasks/list", _meta=KNOWING),
    ):
        assert DOUBLE.request(asked, context) is asked


def test_a_client_that_knows_no_tasks_is_told_what_it_lacks(context: FaultContext) -> None:
    for refused in (
        answer(context, "tools/call", UNDECLARED, name="failing_job"),
        answer(context, "tasks/get", UNDECLARED, taskId="x"),
        answer(context, "subscriptions/listen", UNDECLARED, notifications={"taskIds": []}),
    ):
        assert refused["error"]["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        assert (refused["error"]["code"], refused["status"]) == (-32021, 400)


def test_a_client_that_knows_no_tasks_is_given_the_end_of_work(context: FaultContext) -> None:
    done = answer(context, "tools/call", UNDECLARED, name="slow_compute", arguments={"seconds": 9})
    assert done["result"]["resultType"] == "complete"


def test_a_header_that_names_another_task_is_refused(context: FaultContext) -> None:
    name = task(context, "slow_compute", seconds=1)
    context.call = Request([("Mcp-Method", "tasks/get"), ("Mcp-Name", "another")], "POST", "/mcp")
    assert answer(context, "tasks/get", taskId=name)["error"]["code"] == -32020
    context.call.set("Mcp-Name", name)
    assert answer(context, "tasks/get", taskId=name)["result"]["taskId"] == name


def test_who_listens_is_told_every_stage_of_tasks_that_are_there(context: FaultContext) -> None:
    name = task(context, "slow_compute", seconds=1)
    wishes = {"taskIds": [name, "unknown"]}
    asked = request(7, "subscriptions/listen", _meta=KNOWING, notifications=wishes)
    assert DOUBLE.request(asked, context) is asked
    params = {"_meta": {SUBSCRIPTION_KEY: 7}, "notifications": {}}
    acknowledged = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}
    first, *told = DOUBLE.reply(acknowledged, context)
    assert first["params"]["notifications"] == {"taskIds": [name]}
    assert [one["params"]["status"] for one in told] == ["working", "working", "completed"]


def test_the_server_has_the_extension_and_its_tools(context: FaultContext) -> None:
    context.request = request(1, "server/discover", _meta=KNOWING)
    told = DOUBLE.reply(result(1, capabilities={"tools": {}}), context)
    assert told["result"]["capabilities"] == {"tools": {}, "extensions": {TASKS: {}}}
    context.request = request(1, "tools/list", _meta=KNOWING)
    whole, part = result(1, tools=[]), result(1, tools=[], nextCursor="2")
    assert "greet" in [tool["name"] for tool in DOUBLE.reply(whole, context)["result"]["tools"]]
    assert DOUBLE.reply(part, context) == part
