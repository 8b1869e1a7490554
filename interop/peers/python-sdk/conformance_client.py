"""A scripted client on the official Python SDK, for suites that judge clients.

The last argument is a URL, or `--server-command LINE` names a stdio server; `conformance_context.py`
documents the environment. Exit codes: 0 all steps done, 1 one failed or the SDK has no API for it, 2 usage.
"""

import asyncio
import logging
import shlex
import sys
import warnings
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from conformance_answers import Answers, Notifications
from conformance_context import BadContext, Context, NoApi
from conformance_oauth import provider
from conformance_steps import Player, cause_of
from mcp import Client, MCPDeprecationWarning, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

# Seconds to wait for an answer; in a matrix, also for a server to start on a busy machine.
ANSWER_TIMEOUT, PATIENCE = 10.0, 45.0
TIMEOUT = httpx2.Timeout(30.0, read=300.0)
INFO = types.Implementation(name="conformance-client-python-sdk", version="1.0.0")


async def target(context: Context, stack: AsyncExitStack) -> Any:
    """The server in a form that the SDK's client accepts."""
    if context.server_command is not None:
        command, *arguments = shlex.split(context.server_command)
        return StdioServerParameters(command=command, args=arguments)
    assert context.url is not None
    match urlsplit(context.url).scheme:
        case "http" | "https":
            auth = await provider(context, context.url)
        case "ws" | "wss":
            raise NoApi("WebSocket transport")
        case _:
            raise BadContext(f"{context.url} is not an HTTP URL")
    if auth is None:
        return context.url
    http = await stack.enter_async_context(httpx2.AsyncClient(auth=auth, timeout=TIMEOUT))
    return streamable_http_client(context.url, http_client=http)


async def play(context: Context) -> None:
    answers, notifications = Answers(context), Notifications()
    async with AsyncExitStack() as stack:
        client = Client(
            await target(context, stack),
            mode="legacy" if context.revision in HANDSHAKE_PROTOCOL_VERSIONS else "auto",
            client_info=INFO,
            read_timeout_seconds=PATIENCE if context.data.get("report") else ANSWER_TIMEOUT,
            message_handler=notifications.on_message,
            **answers.callbacks(),
        )
        await stack.enter_async_context(client)
        notifications.subscribed = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        player = Player(client, context, answers, notifications, stack)
        await (player.report if context.data.get("report") else player.play)(context.steps)


def main() -> int:
    logging.basicConfig(level=logging.WARNING)
    # Older revisions have features that the newest deprecates, and suites do not name the issuer of client
    # credentials.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    try:
        asyncio.run(play(Context.from_process()))
    except Exception as error:
        print(cause_of(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
