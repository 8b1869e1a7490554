"""The fixtures for tests of a server: clients, scripted answers, the recorder and the clock."""

import pytest

import assay.client.sync_client
import assay.server.server
import assay.testing.client
import assay.testing.setting  # noqa: F401 - loaded once, instead of in each of the inner runs
from tests.testing.project import SERVER, STRICT, WITH_ANYIO, WITH_ASYNCIO, run, text

pytest_plugins = ("pytester",)

USES = """
import asyncio
import pytest
import shop
from assay import Client, ServerError, ToolFailed

async def test_a_call(assay_client):
    assert await assay_client.call_as(int, "add", a=1, b=2) == 3
    assert shop.started[-1] == "start"

async def test_the_server_was_stopped_and_starts_again(assay_client):
    assert shop.started == ["start", "stop", "start"]
    assert isinstance(assay_client, Client)

def test_a_call_without_async(assay_sync_client):
    assert assay_sync_client.call_as(int, "add", a=1, b=2) == 3

@pytest.mark.assay_client(revision="2025-06-18", name="tester")
async def test_options_of_a_mark(assay_client):
    assert assay_client.revision == "2025-06-18"

@pytest.mark.asyncio(loop_scope="module")
async def test_a_loop_of_another_scope(assay_client):
    assert await assay_client.call_as(int, "add", a=1, b=2) == 3

@pytest.fixture
async def three(assay_client):
    yield await assay_client.call_as(int, "add", a=1, b=2)
    await assay_client.ping()

async def test_a_fixture_uses_the_client(three, assay_client):
    assert await assay_client.call_as(int, "add", a=three, b=2) == 5

@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_answers_and_recorder(assay_client, assay_answers, assay_recorder, tmp_path, revision):
    assay_answers.elicit({"size": "L"})
    assay_answers.sample(lambda request: request.messages[0].content.text.upper())
    assay_answers.roots(tmp_path)
    result = await assay_client.call("order", item="hat")
    assert result.text == "hat in L, TELL A JOKE, 1 roots"
    assert assay_recorder.assert_called_once("order", item="hat").result is result
    assay_recorder.assert_asked("elicitation", "size")
    assert assay_recorder.assert_asked("sampling").answer == "TELL A JOKE"
    assay_recorder.assert_asked("roots")
    assay_recorder.assert_logged("ordered hat", level="warning")
    assert [notice.total for notice in assay_recorder.progress] == [2]

@pytest.mark.parametrize("revision", ["2025-11-25"])
async def test_changes(assay_client, assay_recorder, revision):
    await assay_client.call("grow")
    await assay_recorder.until(lambda recorder: recorder.changes)
    assay_recorder.assert_changed("tools")
    shop.server.tools.remove("grown")

def test_the_same_without_async(assay_sync_client, assay_answers, assay_recorder):
    assay_answers.elicit(None, {"size": "S"})
    assay_answers.sample("ha", repeat=True)
    assert assay_sync_client.call("order", item="hat").text == "no hat: decline"
    assert assay_sync_client.call("order", item="hat").text == "hat in S, ha, 0 roots"
    assay_recorder.wait_until(lambda recorder: len(recorder.calls) == 2)
    assert len(assay_recorder.questions) == 4

async def test_without_answers_nothing_is_declared(assay_client):
    with pytest.raises((ServerError, ToolFailed), match="elicitation"):
        await assay_client.call("order", item="hat")

@pytest.mark.assay_client(timeout=None)
async def test_the_clock_ends_a_handler(assay_client, assay_clock):
    call = asyncio.ensure_future(assay_client.call("never"))
    await assay_clock.sleep(299)
    assert not call.done()
    await assay_clock.sleep(2)
    with pytest.raises(ToolFailed, match="no activity for 300 s"):
        await call

@pytest.fixture
def assay_client_options(request):
    return {"revision": request.getfixturevalue("revision")} if "revision" in request.fixturenames else {}
"""


def test_every_fixture_does_its_work(pytester: pytest.Pytester) -> None:
    run(pytester, USES).assert_outcomes(passed=12)


ANYIO = """
import pytest
import shop

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
async def test_with_anyio(assay_client, assay_recorder):
    assert await assay_client.call_as(int, "add", a=1, b=2) == 3
    assay_recorder.assert_called("add", a=1)

def test_without_async(assay_sync_client):
    assert assay_sync_client.call_as(int, "add", a=1, b=2) == 3
"""


@pytest.mark.parametrize("beside", [(), WITH_ASYNCIO], ids=["alone", "beside pytest-asyncio"])
def test_the_plugin_of_anyio_runs_the_tests(pytester: pytest.Pytester, beside: tuple[str, ...]) -> None:
    settings = SERVER + (STRICT if beside else "")
    run(pytester, ANYIO, plugins=(*WITH_ANYIO, *beside), settings=settings).assert_outcomes(passed=2)


SERVERS = """
import pytest
from assay import Server

@pytest.fixture
def assay_server():
    server = Server("mine")
    server.tool(lambda: "mine", name="who")
    return server

def test_a_fixture_of_the_user(assay_sync_client):
    assert assay_sync_client.server_info.name == "mine"
"""


@pytest.mark.parametrize("arguments", [(), ("--assay-process",)], ids=["memory", "stays in memory"])
def test_the_user_overrides_the_server(pytester: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    run(pytester, SERVERS, *arguments, plugins=(), settings="").assert_outcomes(passed=1)


PROCESS = """
import os
import pytest

@pytest.mark.assay_server("shop:make_server")
def test_a_function_in_a_process(assay_sync_client, assay_answers):
    assay_answers.elicit({"size": "L"})
    assay_answers.sample("ha")
    assert assay_sync_client.call("order", item="hat").text == "hat in L, ha, 0 roots"
"""


@pytest.mark.parametrize("arguments", [(), ("--assay-process",)], ids=["memory", "process"])
def test_the_same_test_runs_in_memory_and_on_a_process(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    run(pytester, PROCESS, *arguments, plugins=(), settings="").assert_outcomes(passed=1)


MISTAKES = """
import pytest
import shop
from assay import Server, Stdio

mark = pytest.mark.assay_server
IN_SHOP = mark("shop:server")

def test_no_server(assay_sync_client): ...

@mark("shop")
def test_not_a_name(assay_sync_client): ...

@mark("shap:server")
def test_no_module(assay_sync_client): ...

@mark("shop:started")
def test_not_in_it(assay_sync_client): ...

@mark("shop:server", "shop:server")
def test_two_servers(assay_sync_client): ...

@IN_SHOP
@pytest.mark.assay_client(colour=1)
def test_unknown_option(assay_sync_client): ...

@IN_SHOP
@pytest.mark.assay_client("2025-11-25")
def test_option_without_a_name(assay_sync_client): ...

@mark(shop.server, process=True)
def test_an_object_in_a_process(assay_sync_client): ...

@IN_SHOP
def test_async_client(assay_client): ...

@IN_SHOP
async def test_without_mark(assay_client): ...

NO_PROGRAM = mark(Stdio("no-such-program"))

@NO_PROGRAM
@pytest.mark.asyncio
async def test_not_there(assay_client): ...

@NO_PROGRAM
def test_not_there_without_async(assay_sync_client): ...
"""
TEXTS = (
    "no server to test: name it with",
    "not a server: 'shop'",
    "shap cannot be imported: install the project",
    "started in shop is not a Server: []",
    "@pytest.mark.assay_server takes the server and process=True, nothing else",
    "assay_client cannot be made",
    "@pytest.mark.assay_client takes options of Client by name",
    "a Server object cannot run in another process: name it",
    "use assay_sync_client in this one",
    "mark the test with @pytest.mark.asyncio",
    "assay_client cannot be opened: cannot start no-such-program",
    "assay_sync_client cannot be opened: cannot start no-such-program",
)


def test_a_mistake_is_one_line_with_the_fix(pytester: pytest.Pytester) -> None:
    result = run(pytester, MISTAKES, settings=STRICT)
    result.assert_outcomes(errors=len(TEXTS))
    output = text(result)
    assert [line for line in TEXTS if line not in output] == []
    assert "src/assay" not in output


ASYNC = "async def test_it(assay_client): ..."


def test_an_async_test_without_a_plugin_names_what_to_install(pytester: pytest.Pytester) -> None:
    result = run(pytester, ASYNC, plugins=(), settings=SERVER)
    assert "pip install pytest-asyncio, or use assay_sync_client" in text(result)


def test_another_backend_of_anyio_is_refused(pytester: pytest.Pytester) -> None:
    tests = ANYIO.replace('"asyncio"', '"trio"')
    result = run(pytester, tests, "-k", "anyio", plugins=WITH_ANYIO, settings=SERVER)
    assert "define a fixture anyio_backend that returns 'asyncio'" in text(result)


QUESTIONS = """
def test_unused(assay_sync_client, assay_answers):
    assay_answers.elicit({"size": "L"})

def test_unscripted(assay_sync_client, assay_answers):
    assert assay_sync_client.call("swallow").text == "ignored"
"""


def test_unused_answers_and_unscripted_questions_fail_a_test(pytester: pytest.Pytester) -> None:
    tests = "import pytest\npytestmark = pytest.mark.assay_client(revision='2025-11-25')\n" + QUESTIONS
    result = run(pytester, tests, plugins=(), settings=SERVER)
    result.assert_outcomes(passed=2, errors=2)
    assert "did not ask for scripted answers to elicitation: {'size': 'L'}" in text(result)
    assert "the server asked 'Really?': script an answer with answers.elicit(…)" in text(result)
