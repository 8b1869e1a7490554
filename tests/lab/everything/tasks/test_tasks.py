"""Checks of tasks on conversations written by hand: what they let pass, and what they cannot see."""

from typing import Any

from assay.lab.everything.fixture import UNDECLARED
from assay.lab.everything.tasks.task import DECLARED
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.everything.observing import broken, held, seen
from tests.lab.suite.conversation import error
from tests.lab.traces import request, result, stdio_trace

META = {CAPABILITIES_KEY: DECLARED}
TIMES = {"createdAt": "2000-01-01T00:00:00Z", "lastUpdatedAt": "2000-01-01T00:00:01Z", "ttlMs": None}
CONTENT = [{"type": "text", "text": "done"}]
SLOW = "slow_compute"


def talk(*pairs: tuple[dict[str, Any], dict[str, Any]]) -> Trace:
    turns = [turn for asked, answer in pairs for turn in ((">", asked), ("<", answer))]
    return stdio_trace(*turns, revision=PER_REQUEST[-1])


def call(number: int, tool: str, meta: Any = META, **arguments: Any) -> dict[str, Any]:
    return request(number, "tools/call", name=tool, arguments=arguments, _meta=meta)


def ask(number: int, method: str, meta: Any = META, **params: Any) -> dict[str, Any]:
    return request(number, f"tasks/{method}", taskId="t", _meta=meta, **params)


def task(number: int, status: str = "working", kind: str = "complete", **more: Any) -> dict[str, Any]:
    return result(number, resultType=kind, taskId="t", status=status, **{**TIMES, **more})


def made(number: int, tool: str = SLOW, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return call(number, tool, **arguments), task(number, kind="task")


def test_a_task_that_is_done_at_the_first_look_shows_nothing_of_its_work() -> None:
    done = task(2, "completed", result={"content": CONTENT})
    trace = talk(made(1, label="quick"), (ask(2, "get"), done))
    assert "sep-2663-tasks-get-status-completed" in held("tasks-lifecycle", trace)
    assert "sep-2663-tasks-get-status-working" not in dict(seen("tasks-lifecycle", trace))


def test_a_task_that_was_left_working_shows_nothing_of_its_end() -> None:
    trace = talk(made(1, label="quick"), (ask(2, "get"), task(2)))
    assert "sep-2663-tasks-get-status-completed" not in dict(seen("tasks-lifecycle", trace))


def test_a_task_that_cannot_be_read_any_more_has_no_end() -> None:
    trace = talk(made(1, label="quick"), (ask(2, "get"), error(2, -32602)))
    assert "sep-2663-tasks-get-status-completed" in broken("tasks-lifecycle", trace)


def test_a_call_that_is_refused_makes_no_task() -> None:
    trace = talk((call(1, SLOW, label="quick"), error(1, -32602)), (call(2, "failing_job"), error(2, -32602)))
    found = broken("tasks-lifecycle", trace)
    assert {"sep-2663-result-type-task-on-create", "sep-2663-tool-error-uses-completed-status"} <= found


def test_a_refusal_counts_only_where_the_task_can_be_read() -> None:
    stranger = (ask(3, "get", UNDECLARED), error(3, -32602))
    row = "sep-2663-tasks-methods-non-declaring"
    unread = talk(made(1), (ask(2, "get"), error(2, -32602)), stranger)
    assert row not in dict(seen("tasks-capability-negotiation", unread))
    assert row in broken("tasks-capability-negotiation", talk(made(1), (ask(2, "get"), task(2)), stranger))


def test_a_task_may_be_gone_when_its_time_is_over() -> None:
    row = "tasks-no-early-ttl-expiry"
    end = (ask(2, "get"), task(2, "completed", ttlMs=1, result={"content": CONTENT}))
    gone = (ask(3, "get"), error(3, -32602))
    assert row not in dict(seen("tasks-wire-fields", talk(made(1), end, gone)))
    lasting = (ask(2, "get"), task(2, "completed", ttlMs=9999, result={"content": CONTENT}))
    assert row in broken("tasks-wire-fields", talk(made(1), lasting, gone))


def test_an_instant_may_be_a_task_or_a_result() -> None:
    row = "tasks-immediate-result-shortcut"
    at_once = (call(1, SLOW), result(1, resultType="complete", content=CONTENT))
    assert row in held("tasks-dispatch-and-envelope", talk(at_once))
    assert row in held("tasks-dispatch-and-envelope", talk(made(1)))


def test_what_a_client_lacks_may_go_without_data_but_not_with_other_data() -> None:
    refusal = error(2, -32021)
    row = "sep-2663-server-returns-missing-capability-data-shape"
    stranger = call(2, "failing_job", UNDECLARED)
    silent = talk(made(1, "failing_job"), (stranger, refusal))
    assert row not in dict(seen("tasks-required-task-error", silent))
    refusal["error"]["data"] = {"requiredCapabilities": {"sampling": {}}}
    assert row in broken("tasks-required-task-error", talk(made(1, "failing_job"), (stranger, refusal)))


def listening(granted: list[str], *told: dict[str, Any], seconds: int = 1) -> Trace:
    acknowledged = {"notifications": {"taskIds": granted}, "_meta": {SUBSCRIPTION_KEY: 2}}
    turns = [
        (">", made(1, seconds=seconds)[0]),
        ("<", made(1)[1]),
        (">", request(2, "subscriptions/listen", notifications={"taskIds": ["t"]}, _meta=META)),
        ("<", notice("notifications/subscriptions/acknowledged", acknowledged)),
        *(("<", notice("notifications/tasks", {**one, "_meta": {SUBSCRIPTION_KEY: 2}})) for one in told),
    ]
    return stdio_trace(*turns, revision=PER_REQUEST[-1])


def notice(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def test_a_server_that_grants_no_notifications_owes_none() -> None:
    assert not seen("tasks-status-notifications", listening([]))


def test_a_server_that_grants_notifications_tells_of_the_end() -> None:
    row = "tasks-status-notifications"
    end = task(0, "completed", result={"content": CONTENT})["result"]
    assert row in broken(row, listening(["t"]))
    assert row in broken(row, listening(["t"], task(0)["result"]))
    assert row in held(row, listening(["t"], task(0)["result"], end))


def test_a_task_that_may_have_ended_before_has_no_end_to_tell() -> None:
    assert not seen("tasks-status-notifications", listening(["t"], seconds=0))
