"""Scope: what travels with a message."""

from __future__ import annotations

from assay import Scope


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
