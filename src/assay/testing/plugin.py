"""The pytest plugin: fixtures for tests of servers, and the lab's scenarios as test items.

pytest loads this module in every project of the environment. It imports nothing of Assay until a fixture,
mark or option of it is used.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from assay import Client, SyncClient

    from .answer import Answers
    from .client import RecordingClient
    from .clock import ManualClock
    from .recorder import Recorder
    from .snapshot import Snapshot

MARKS: Final = (
    'assay_server(target, process=False): the server of this test: "package.module:name", a URL or Stdio(…)',
    "assay_client(**options): options of the client of this test, such as revision and timeout",
    "assay_conformance(target, **options): run the conformance lab on the server, one item for each scenario",
)
WRITTEN: Final = "assay_snapshot"
"""The property of a report that names a written file; reports also come from other processes."""
PYTEST_ASYNCIO: Final = ("asyncio", "pytest_asyncio.plugin")
"""Its name as an entry point, and with `-p`."""
ASYNC_SCOPES: Final = ("function", "class", "module", "package", "session")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    _leave_asserts_alone(pluginmanager)
    group = parser.getgroup("assay", "tests of MCP servers")
    option = group.addoption
    option("--assay-server", metavar="TARGET", help="the server: package.module:name, or a URL")
    option("--assay-process", action="store_true", help="run a named server in a process instead of this one")
    option("--assay-update-snapshots", action="store_true", help="rewrite the files of assay_snapshot")
    option("--assay-check", action="store_true", help="also run the conformance lab on the server")
    option("--assay-suite", metavar="NAME", help="its suite: protocol, everything or marketplace")
    for name, value, subject in (
        ("scenario", "GLOB", "scenarios"),
        ("revision", "DATE", "protocol revisions"),
        ("transport", "NAME", "transports: stdio, http, ws"),
    ):
        option(f"--assay-{name}", action="append", metavar=value, help=f"its {subject}; repeatable")
    parser.addini("assay_server", "the server that the fixtures of assay connect to: package.module:name")


def _leave_asserts_alone(pluginmanager: pytest.PytestPluginManager) -> None:
    """pytest rewrites the asserts of every package with a plugin, here of a whole framework: hundreds of
    modules would be compiled again, and run slower under tests. If the set has another name one day, all that
    is lost is this time."""
    marked = getattr(pluginmanager.rewrite_hook, "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("assay")


def pytest_configure(config: pytest.Config) -> None:
    for line in MARKS:
        config.addinivalue_line("markers", line)
    if any(config.pluginmanager.hasplugin(name) for name in PYTEST_ASYNCIO):
        from . import asyncio_fixture

        config.pluginmanager.register(asyncio_fixture, "assay-asyncio")
    if config.option.assay_check:
        from . import conformance

        config.pluginmanager.register(conformance.CheckOption(), "assay-check")


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Any:
    marks = getattr(obj, "pytestmark", None) if callable(obj) else None
    if not isinstance(marks, list) or not collector.istestfunction(obj, name):
        return None
    if not any(mark.name == "assay_conformance" for mark in marks):
        return None
    from . import conformance

    return conformance.collect(collector, name, obj)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = (report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ()))
    paths = sorted({path for report in reports for key, path in report.user_properties if key == WRITTEN})
    for path in paths:
        terminalreporter.write_line(f"snapshot written: {path}")


# The server and its clients.


@pytest.fixture
def assay_server(request: pytest.FixtureRequest) -> Any:
    """The server under test. Override this fixture, mark a test with `assay_server`, or set `assay_server` in
    the configuration of pytest."""
    from .setting import server_setting

    return server_setting(request)


@pytest.fixture
def assay_client_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of `assay_client` and `assay_sync_client`, as `Client` takes them. Override it to change them
    for many tests; the mark `assay_client` does so for one."""
    return {}


@pytest.fixture
def _assay_unopened(
    request: pytest.FixtureRequest, assay_server: Any, assay_client_options: dict[str, Any]
) -> RecordingClient:
    from .setting import make_client

    return make_client(request, assay_server, assay_client_options)


@pytest.fixture
def assay_client(request: pytest.FixtureRequest, _assay_unopened: RecordingClient) -> Client:
    """An open client of the server under test, for `async def` tests of pytest-asyncio or anyio."""
    from .setting import async_fixture

    client: Client = request.getfixturevalue(async_fixture(request))
    return client


@pytest.fixture
async def _assay_client_anyio(_assay_unopened: RecordingClient) -> AsyncIterator[Client]:
    from .setting import open_client

    client = await open_client(_assay_unopened)
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
def assay_sync_client(_assay_unopened: RecordingClient) -> Iterator[SyncClient]:
    """An open client of the server under test, for tests without async."""
    from assay import SyncClient

    from .setting import open_sync_client

    with contextlib.closing(open_sync_client(SyncClient.of(_assay_unopened))) as client:
        yield client


# What clients are given.


@pytest.fixture
def assay_answers() -> Iterator[Answers]:
    """Scripted answers to questions of the server. Clients of tests that use it declare sampling, elicitation
    and roots. Unused answers and questions without one fail the test."""
    from .answer import Answers

    answers = Answers()
    yield answers
    try:
        answers.check()
    except AssertionError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.fixture
def assay_recorder() -> Recorder:
    """Records what the clients of this test call, and what the server asks and announces."""
    from .recorder import Recorder

    return Recorder()


@pytest.fixture
def assay_clock() -> ManualClock:
    """A clock that the test moves, and with it the timeouts in the event loop of `assay_client`."""
    from .clock import ManualClock

    return ManualClock()


@pytest.fixture
def assay_snapshot(request: pytest.FixtureRequest) -> Iterator[Snapshot]:
    """Compares the lists of the server with a file beside the test."""
    from .snapshot import Snapshot, snapshot_path

    item, update = request.node, request.config.option.assay_update_snapshots
    snapshot = Snapshot(
        snapshot_path(request.path, item.name),
        update=update,
        on_write=lambda path: item.user_properties.append((WRITTEN, str(path))),
    )
    yield snapshot
    try:
        snapshot.finish()
    except AssertionError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
