"""Assertions on what was recorded: what they accept, and how they read when they fail."""

import asyncio
from unittest.mock import ANY

import pytest

from assay import Change, LogMessage, Progress, Server, ServerError, SyncClient, ToolFailed
from assay.testing import Call, Recorder, RecordingClient
from assay.testing.recorder import LIMIT, LISTED


def recorded(*calls: Call) -> Recorder:
    recorder = Recorder()
    for call in calls:
        recorder.add_call(call)
    return recorder


TWO = (Call("tool", "add", {"a": 1, "b": 2}), Call("tool", "add", {"a": 1, "b": 3}), Call("prompt", "add"))


def test_a_call_is_asserted_by_some_of_its_arguments() -> None:
    recorder = recorded(*TWO)
    assert recorder.assert_called("add").arguments["b"] == 3
    assert recorder.assert_called_once("add", b=2) is TWO[0]
    recorder.assert_called("add", a=ANY, b=2)
    recorder.assert_not_called("subtract")
    recorder.assert_not_called("add", a=2)
    recorder.clear()
    recorder.assert_not_called()


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("assert_called", {"a": 2}, "add(a=2) was not called\nrecorded:\n  add(a=1, b=2)\n  add(a=1, b=3)"),
        ("assert_called_once", {"a": 1}, "add(a=1) was called 2 times, not once\nrecorded:"),
        ("assert_not_called", {"b": 2}, "add(b=2) was called\nrecorded:\n  add(a=1, b=2)"),
    ],
)
def test_a_failed_assertion_lists_the_calls(name: str, arguments: dict[str, int], text: str) -> None:
    with pytest.raises(AssertionError) as failure:
        getattr(recorded(*TWO), name)("add", **arguments)
    assert str(failure.value).startswith(text)


def test_without_records_the_text_says_so() -> None:
    recorder = Recorder()
    for assertion in (
        lambda: recorder.assert_called("add"),
        lambda: recorder.assert_asked("sampling", "joke"),
        lambda: recorder.assert_logged("text", level="error"),
        lambda: recorder.assert_changed("resource", "test://a"),
    ):
        with pytest.raises(AssertionError, match="nothing of this kind was recorded"):
            assertion()


def test_logs_and_changes_are_found_by_their_parts() -> None:
    recorder = Recorder()
    recorder.add_log(LogMessage("info", {"key": "value"}))
    recorder.add_change(Change("resource", "test://a"))
    assert recorder.assert_logged("value", level="info").data == {"key": "value"}
    assert recorder.assert_changed("resource", "test://a").uri == "test://a"
    with pytest.raises(AssertionError, match="did not send a error message"):
        recorder.assert_logged(level="error")
    with pytest.raises(AssertionError, match="no change of resource test://b"):
        recorder.assert_changed("resource", "test://b")


def test_the_newest_records_are_kept_and_few_are_listed() -> None:
    recorder = recorded(*(Call("tool", f"tool{number}") for number in range(LIMIT + 1)))
    assert [recorder.calls[0].name, len(recorder.calls)] == ["tool1", LIMIT]
    with pytest.raises(AssertionError) as failure:
        recorder.assert_called("none")
    assert len(str(failure.value).splitlines()) == LISTED + 3


def test_text_of_a_server_does_not_act_on_the_terminal() -> None:
    recorder = recorded(Call("tool", "add", error=ValueError("\x1b[2J")))
    with pytest.raises(AssertionError) as failure:
        recorder.assert_called("other")
    assert "\x1b" not in str(failure.value) and "add() raised ValueError: ␛[2J" in str(failure.value)


server = Server("recorded")


@server.tool
async def fail() -> str:
    raise ValueError("broken")


@server.resource("test://a")
async def resource() -> str:
    return "a"


@server.prompt
async def ask(topic: str) -> str:
    return topic


async def test_reads_prompts_and_failures_are_recorded() -> None:
    recorder = Recorder()
    seen: list[Progress] = []
    async with RecordingClient(server, recorder=recorder) as client:
        await client.read("test://a")
        await client.prompt("ask", topic="x")
        with pytest.raises(ToolFailed):
            await client.call_tool("fail", progress=seen.append)
        with pytest.raises(ServerError):
            await client.read("test://b")
    assert [str(call) for call in recorder.prompts] == ["ask(topic='x')"]
    assert [call.name for call in recorder.reads] == ["test://a", "test://b"]
    assert isinstance(recorder.reads[1].error, ServerError)
    assert isinstance(recorder.assert_called("fail").error, ToolFailed)


async def test_waiting_ends_when_the_condition_holds_or_the_time_is_over() -> None:
    recorder = Recorder()
    asyncio.get_running_loop().call_soon(recorder.add_change, Change("tools"))
    await recorder.until(lambda recorder: recorder.changes)
    with pytest.raises(AssertionError, match=r"not within 0.01 s; recorded: 0 calls, .* 1 changes"):
        await recorder.until(lambda recorder: recorder.calls, timeout=0.01)
    with pytest.raises(AssertionError, match="not within"):
        recorder.wait_until(lambda recorder: recorder.calls, timeout=0.01)


async def test_the_last_client_of_a_server_stops_it() -> None:
    stopped: list[str] = []

    class Watched(Server):
        async def stop(self) -> None:
            stopped.append("stop")
            await super().stop()

    watched = Watched("watched")
    async with RecordingClient(watched):
        async with RecordingClient(watched):
            pass
        assert stopped == []
    assert stopped == ["stop"]


def test_a_sync_client_of_a_recording_client_records() -> None:
    recorder = Recorder()
    with SyncClient.of(RecordingClient(server, recorder=recorder)) as client:
        client.call_tool("fail", check=False)
    assert recorder.assert_called("fail").result.is_error


async def test_arguments_that_are_no_dict_are_refused_and_not_recorded() -> None:
    recorder = Recorder()
    async with RecordingClient(Server("empty"), recorder=recorder) as client:
        with pytest.raises(TypeError, match="arguments of tool add must be a dict, not str"):
            await client.call_tool("add", "a=1")  # type: ignore[arg-type]
    recorder.assert_not_called()
