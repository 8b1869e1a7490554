"""Extensions as values: valid names, who has declared one, and the refusal of the others."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Extension, RegistrationError, RpcError
from assay.extensions.registry import EXTENSIONS, REQUESTS
from assay.model.definition import ClientCapabilities
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Opening, Revision

NAME = "com.example/models"
MODELS = Extension(NAME, requests=["models/list"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": "models"}, "invalid extension name"),
        ({"name": "com.example/"}, "invalid extension name"),
        ({"name": NAME, "requests": "models/list"}, r"write \['models/list'\]"),
        ({"name": NAME, "cacheable": ["models/list"]}, "not one of its requests"),
        ({"name": NAME, "mirrored": {"models/list": "name"}}, "not one of its requests"),
    ],
)
def test_an_invalid_value_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(RegistrationError, match=problem):
        Extension(**options)


@pytest.mark.parametrize(
    ("declared", "settings"),
    [
        ({NAME: {}}, {}),
        ({NAME: {"a": 1}}, {"a": 1}),
        ({}, None),
        (None, None),
        ({NAME: None}, None),
        ({NAME: True}, None),
    ],
)
def test_only_an_object_under_the_name_declares_an_extension(declared: Any, settings: Any) -> None:
    assert MODELS.declared_by(ClientCapabilities(extensions=declared)) == settings


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_clients_that_did_not_declare_it_are_refused(revision: Revision) -> None:
    MODELS.require(ClientCapabilities(extensions={NAME: {}}), revision)
    with pytest.raises(RpcError) as refusal:
        MODELS.require(ClientCapabilities(), revision)
    assert refusal.value.code == (-32021 if revision in PER_REQUEST else -32601)
    assert refusal.value.data == {"requiredCapabilities": {"extensions": {NAME: {}}}}


def test_an_extension_may_exist_in_one_kind_of_revision_only() -> None:
    newer = Extension(NAME, openings=[Opening.PER_REQUEST])
    assert not any(map(newer.is_in, HANDSHAKE))
    assert all(map(newer.is_in, PER_REQUEST))
    assert all(map(MODELS.is_in, REVISIONS))


def test_the_registry_has_one_extension_per_name_and_their_methods() -> None:
    names = [extension.name for extension in EXTENSIONS]
    assert len(set(names)) == len(names)
    assert all(method in REQUESTS for extension in EXTENSIONS for method in extension.requests)
