"""Scope: what travels with a message."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from assay import Scope, Server


def test_scope_knows_nothing_by_default() -> None:
    scope = Scope()
    assert (scope.principal, scope.session, scope.revision, scope.headers, scope.state) == (
        None,
        None,
        None,
        {},
        {},
    )


def test_header_names_are_in_lower_case() -> None:
    assert Scope(raw_headers=[(b"X-User", b"Ada"), (b"accept", b"*/*")]).headers == {
        "x-user": "Ada",
        "accept": "*/*",
    }


def test_state_is_never_shared_between_scopes() -> None:
    assert Scope().state is not Scope().state


def unneeded() -> str:
    raise AssertionError("the address was computed although nothing needs it")


@pytest.mark.parametrize(
    ("scope", "key"),
    [
        (Scope(principal="ann", client_address=unneeded), ("principal", "ann")),
        (Scope(principal={"sub": "ann"}), ("principal", "{'sub': 'ann'}")),
        (Scope(client_address=lambda: "192.0.2.1"), ("address", "192.0.2.1")),
    ],
    ids=["principal", "principal that cannot be hashed", "address"],
)
def test_limits_count_the_principal_or_else_the_address(scope: Scope, key: Hashable) -> None:
    assert scope.client_key == key


async def test_without_an_address_limits_count_the_connection() -> None:
    server = Server("two connections")
    first, second = (server.open_session(lambda data: None) for _ in range(2))
    assert Scope(session=first).client_key == Scope(session=first).client_key
    assert Scope(session=first).client_key != Scope(session=second).client_key
