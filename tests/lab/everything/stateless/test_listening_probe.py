"""What is seen of listen streams in server-stateless, on conversations written by hand."""

from typing import Any

import pytest

from assay.lab.everything.stateless.listen_streams import judge_listening
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import NOT_RECEIVED, Trace
from assay.lab.suite.subscription import ACKNOWLEDGED
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.conversation import error
from tests.lab.traces import request, result, stdio_trace

NEW = PER_REQUEST[-1]
TOOLS, PROMPTS = "notifications/tools/list_changed", "notifications/prompts/list_changed"
ACK, NAMES = "sep-2575-server-sends-subscription-ack", "sep-2575-server-tags-subscription-id"
FILTER = "sep-2575-server-honors-notification-filter"
TOLD = "sep-2575-server-sends-tools-list-changed-on-subscription"
Turn = tuple[str, Any]


def asks(number: int, wish: str) -> Turn:
    return ">", request(number, "subscriptions/listen", notifications={wish: True})


def tells(method: str, number: Any) -> Turn:
    return "<", {"jsonrpc": "2.0", "method": method, "params": {"_meta": {SUBSCRIPTION_KEY: number}}}


def declares(**capabilities: Any) -> tuple[Turn, Turn]:
    return (">", request(0, "server/discover")), ("<", result(0, capabilities=capabilities))


def heard(*turns: Turn) -> Trace:
    return stdio_trace(*turns, revision=NEW)


def waited(trace: Trace, method: str) -> Trace:
    """The trace with a mark that the driver waited for something in vain."""
    info = {"label": NOT_RECEIVED, "method": method}
    mark = Frame(len(trace.frames), 1.0, Sender.DRIVER, "1/marks", Kind.MARK, info=info)
    return Trace(trace.header, [*trace.frames, mark])


def verdicts(trace: Trace) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for one in judge_listening(trace):
        found[one.requirement] = found.get(one.requirement, True) and one.holds
    return found


FIRST, SECOND = asks(1, "toolsListChanged"), asks(2, "promptsListChanged")
BEGUN = (FIRST, tells(ACKNOWLEDGED, 1), SECOND, tells(ACKNOWLEDGED, 2))


def test_acknowledgements_come_first() -> None:
    assert verdicts(heard(*BEGUN)) == {ACK: True, NAMES: True}
    assert verdicts(heard(FIRST, tells(TOOLS, 1), tells(ACKNOWLEDGED, 1)))[ACK] is False


@pytest.mark.parametrize(
    ("capabilities", "expected"), [({}, {}), ({"tools": {"listChanged": True}}, {ACK: False})]
)
def test_a_refusal_is_fair_where_nothing_is_declared(capabilities: Any, expected: dict[str, bool]) -> None:
    assert verdicts(heard(*declares(**capabilities), FIRST, ("<", error(1, -32601)))) == expected


def test_silence_in_place_of_an_acknowledgement() -> None:
    trace = heard(*declares(tools={"listChanged": True}), FIRST)
    assert verdicts(trace) == {}
    assert verdicts(waited(trace, ACKNOWLEDGED)) == {ACK: False}


@pytest.mark.parametrize("name", ["1", 3, None])
def test_notifications_name_their_subscription(name: Any) -> None:
    assert verdicts(heard(*BEGUN, tells(TOOLS, name)))[NAMES] is False


def test_the_filter_is_judged_where_something_could_have_come() -> None:
    assert FILTER not in verdicts(heard(*BEGUN))
    assert verdicts(heard(*BEGUN, tells(TOOLS, 1)))[FILTER] is True
    assert verdicts(heard(*BEGUN, tells(TOOLS, 1), tells(TOOLS, 2)))[FILTER] is False


def test_a_change_that_nobody_is_told_of() -> None:
    assert verdicts(heard(*BEGUN, tells(TOOLS, 1)))[TOLD] is True
    assert TOLD not in verdicts(heard(*BEGUN))
    assert verdicts(waited(heard(*BEGUN), TOOLS))[TOLD] is False
