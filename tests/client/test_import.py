"""Importing the client stays cheap, and brings no server."""

from __future__ import annotations

import assay
import assay.client
from tests.meta.test_imports import loaded_by

NOT_NEEDED = (
    *("assay.server", "assay.lab", "assay.model.visible", "assay.transport.asgi", "assay.transport.port"),
    *("assay.transport.client.child", "assay.transport.client.http", "assay.transport.client.websocket"),
    *("httptools", "httpx2", "jsonschema_rs", "pydantic", "urllib.parse", "websockets"),
)
LATER = ("assay.client.session", "assay.protocol.codec", "assay.protocol.opening", "assay.revisions.registry")
"""What a client needs when it is created, or when it connects."""


def test_importing_the_client_loads_neither_a_server_nor_a_transport() -> None:
    assert loaded_by("from assay import Client, Stdio\nClient(Stdio('x'))", NOT_NEEDED) == [
        "assay.transport.client.child"
    ]


def test_importing_the_client_leaves_the_conversation_for_later() -> None:
    assert loaded_by("from assay import Client", (*LATER, *NOT_NEEDED)) == []


def test_a_command_can_be_started_before_a_client_is_imported() -> None:
    heavy = ("asyncio", "msgspec", "ssl", *LATER, *NOT_NEEDED)
    assert loaded_by("from assay import Stdio\nStdio('x').end_started()", heavy) == []


def test_errors_and_limits_are_cheap() -> None:
    assert loaded_by("from assay import ClientError, ClientLimits", ("asyncio", *NOT_NEEDED)) == []


def test_the_package_has_the_names_of_the_client() -> None:
    names = {name: getattr(assay.client, name) for name in assay.client.__all__}
    assert names == {name: getattr(assay, name) for name in names}
    assert set(names) <= set(dir(assay.client))
