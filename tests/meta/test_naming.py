"""Words that name nothing (`utils`) and words that age (`legacy`) stay out of the package."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.meta.tree import Module, expect_none, package_modules

EMPTY_WORDS = frozenset(
    {"utils", "util", "helpers", "helper", "common", "shared", "misc", "manager", "processor"}
)
AGES = re.compile("legacy|modern|draft", re.IGNORECASE)


def module_breaches(module: Module) -> Iterator[str]:
    for part in module.name.split("."):
        if EMPTY_WORDS & set(part.lower().split("_")):
            yield f"{module.place}:1: {part} names no concept"
        if AGES.search(part):
            yield f"{module.place}:1: {part} will age: name the trait"


def identifier_breaches(module: Module) -> Iterator[str]:
    """Look at the names we give, not at those we use: a library may call its class as it likes."""
    for node in module.nodes:
        for name in given_names(node):
            if AGES.search(name):
                yield module.at(node, f"{name} will age: name the trait")


def given_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def test_modules_are_named_for_a_concept() -> None:
    expect_none(c for module in package_modules() for c in module_breaches(module))


def test_identifiers_do_not_age() -> None:
    expect_none(c for module in package_modules() for c in identifier_breaches(module))


@pytest.mark.parametrize(
    "name",
    [
        "assay.server.utils",
        "assay.common.json",
        "assay.session_manager",
        "assay.server.legacy",
        "assay.x.http_helpers",
    ],
)
def test_the_module_gate_refuses(name: str) -> None:
    assert list(module_breaches(Module(name, "")))
    assert list(module_breaches(Module("assay.server.commonality", ""))) == []


@pytest.mark.parametrize(
    "text",
    [
        "def serve_legacy(): ...",
        "async def modern(): ...",
        "class DraftRevision: ...",
        "is_modern = True",
        "self.draft = 1",
        "def f(*, legacy_ids): ...",
        "import json as modern_json",
        "for draft in drafts: ...",
        "match x:\n    case {'a': modern}: ...",
    ],
)
def test_the_identifier_gate_refuses(text: str) -> None:
    assert list(identifier_breaches(Module("assay.sample", text)))


def test_the_identifier_gate_leaves_foreign_names_alone() -> None:
    text = (
        "from jsonschema_rs import Draft202012Validator\nok = Draft202012Validator({'title': 'legacyEnum'})\n"
    )
    assert list(identifier_breaches(Module("assay.sample", text))) == []
