"""What fixtures read from marks, options and other fixtures of a test."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import pytest

from assay import Client, ClientError, SyncClient

from .client import RecordingClient
from .plugin import ASYNC_SCOPES
from .server_target import BadTarget, client_target

NAME_IT: Final = (
    'name it with `assay_server = "package.module:name"` in the settings of pytest, with the mark '
    '@pytest.mark.assay_server("package.module:name"), or with a fixture assay_server of your own'
)


def refuse(text: str) -> NoReturn:
    """A mistake in how a test is written is an error of one line, without a traceback into this package."""
    raise pytest.fail.Exception(text, pytrace=False) from None


def configured_server(config: pytest.Config) -> str | None:
    return config.option.assay_server or config.getini("assay_server") or None


def server_setting(request: pytest.FixtureRequest) -> Any:
    """The server that the closest mark names, else the command line, else the configuration."""
    mark = request.node.get_closest_marker("assay_server")
    if mark is not None and (len(mark.args) > 1 or mark.kwargs.keys() - {"process"}):
        refuse("@pytest.mark.assay_server takes the server and process=True, nothing else")
    value = mark.args[0] if mark is not None and mark.args else configured_server(request.config)
    if value is None:
        refuse(f"no server to test: {NAME_IT}")
    return value


def in_process(request: pytest.FixtureRequest, server: Any) -> bool:
    """Whether the server runs in a new process. The option is for servers that have a name."""
    mark = request.node.get_closest_marker("assay_server")
    if mark is not None and "process" in mark.kwargs:
        return bool(mark.kwargs["process"])
    return bool(request.config.option.assay_process) and isinstance(server, str)


def make_client(
    request: pytest.FixtureRequest, server: Any, fixture_options: Mapping[str, Any]
) -> RecordingClient:
    """A client that is not open, with what the other fixtures of the test provide."""
    mark = request.node.get_closest_marker("assay_client")
    if mark is not None and mark.args:
        refuse("@pytest.mark.assay_client takes options of Client by name, such as revision=")
    options = {**fixture_options, **(mark.kwargs if mark is not None else {})}
    provided = {
        name: request.getfixturevalue(f"assay_{name}")
        for name in ("answers", "recorder", "clock")
        if f"assay_{name}" in request.fixturenames
    }
    try:
        target = client_target(server, process=in_process(request, server))
        return RecordingClient(target, **provided, **options)
    except (BadTarget, TypeError, ValueError) as error:
        refuse(f"assay_client cannot be made: {error}")


async def open_client(client: RecordingClient) -> Client:
    """The traceback of a server that does not start would lead through pytest and this package only."""
    try:
        return await client.open()
    except ClientError as error:
        refuse(f"assay_client cannot be opened: {error}")


def open_sync_client(client: SyncClient) -> SyncClient:
    try:
        return client.open()
    except ClientError as error:
        refuse(f"assay_sync_client cannot be opened: {error}")


def async_fixture(request: pytest.FixtureRequest) -> str:
    """The fixture that opens the client in the event loop of the test, for the plugin that runs it."""
    if "anyio_backend" in request.fixturenames:
        _check_backend(request.getfixturevalue("anyio_backend"))
        return "_assay_client_anyio"
    mark = request.node.get_closest_marker("asyncio")
    if mark is None:
        refuse(_no_runner(request))
    scope = mark.kwargs.get("loop_scope") or mark.kwargs.get("scope")
    scope = scope or request.config.getini("asyncio_default_test_loop_scope") or ASYNC_SCOPES[0]
    return f"_assay_client_{scope}"


def _check_backend(backend: Any) -> None:
    name = backend if isinstance(backend, str) else backend[0]
    if name != "asyncio":
        fix = "define a fixture anyio_backend that returns 'asyncio'"
        refuse(f"assay's client runs on asyncio, not on {name}: {fix}")


def _no_runner(request: pytest.FixtureRequest) -> str:
    if not inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        return "assay_client is for `async def` tests: use assay_sync_client in this one"
    if request.config.pluginmanager.hasplugin("assay-asyncio"):
        return 'mark the test with @pytest.mark.asyncio, or set asyncio_mode = "auto" in pytest\'s settings'
    return (
        "`async def` tests need a plugin: pip install pytest-asyncio, or use assay_sync_client without async"
    )
