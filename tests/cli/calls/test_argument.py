"""Words as arguments: typed by the schema of the tool, bounded, and explained if they do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.cli.calls.argument import FILE_BYTES, Arguments
from assay.cli.calls.schema import CHARACTERS, Misfit, describe, read_value
from assay.cli.exit_code import CommandFailed, ExitCode

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": 40},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "listed": {"type": ["integer", "null"]},
        "level": {"enum": ["low", "high", 3]},
        "colour": {"oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
        "place": {"$ref": "#/$defs/Place"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
        "single": {"allOf": [{"$ref": "#/$defs/Count"}], "description": "how many"},
        "data": {"type": "string", "contentEncoding": "base64"},
        "when": {"type": "string", "format": "date"},
        "anything": {},
    },
    "$defs": {
        "Place": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "zip": {"type": "integer"},
                "in": {"$ref": "#/$defs/Place"},
            },
        },
        "Count": {"type": "integer"},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ([], {}),
        (["text=hello world"], {"text": "hello world"}),
        (["text="], {"text": ""}),
        (["text=a=b:=c"], {"text": "a=b:=c"}),
        (["text=5"], {"text": "5"}),
        (["text:=null"], {"text": None}),
        (["count=5"], {"count": 5}),
        (["ratio=5", "flag=true"], {"ratio": 5, "flag": True}),
        (["ratio=-.5e1", "flag=No"], {"ratio": -5.0, "flag": False}),
        (["tags=a", "tags=b"], {"tags": ["a", "b"]}),
        (['tags=["a", "b"]', "tags=c"], {"tags": ["a", "b", "c"]}),
        (["sizes=1", "sizes=2"], {"sizes": [1, 2]}),
        (["either=7"], {"either": 7}),
        (["either=x"], {"either": "x"}),
        (["either=null"], {"either": None}),
        (["listed=4"], {"listed": 4}),
        (["listed=null"], {"listed": None}),
        (["level=low"], {"level": "low"}),
        (["level=3"], {"level": 3}),
        (["colour=Green"], {"colour": "g"}),
        (["place.city=Rome", "place.zip=42"], {"place": {"city": "Rome", "zip": 42}}),
        (["place.in.zip=1"], {"place": {"in": {"zip": 1}}}),
        (["maybe.zip=42"], {"maybe": {"zip": 42}}),
        (["single=3"], {"single": 3}),
        (['place={"zip": 1}'], {"place": {"zip": 1}}),
        (["when=2026-02-03"], {"when": "2026-02-03"}),
        (["anything=[1]"], {"anything": [1]}),
        (["anything=word"], {"anything": "word"}),
        (['{"count": 3}', "text=x"], {"count": 3, "text": "x"}),
        ([f"count:={10**30}"], {"count": 10**30}),
    ],
)
def test_words_become_values_of_the_schemas_types(words: list[str], values: dict[str, Any]) -> None:
    assert Arguments("tool", SCHEMA).read(words) == values


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("count=x", "argument count must be integer from 1 to 9, not 'x'"),
        ("count=0", "argument count must be integer from 1 to 9, not '0'"),
        ("count=1.5", "argument count must be integer"),
        ("count=", "argument count must be integer"),
        ("ratio=nan", "argument ratio must be number"),
        ("ratio=1e999", "argument ratio must be number"),
        ("flag=maybe", "argument flag must be a boolean: true or false"),
        ("sizes=x", "argument sizes must be array of integer"),
        ('tags=["a"]', "argument tags must be array of string with at least 2 items"),
        ("listed=x", "argument listed must be integer or null"),
        ("level=middle", "argument level must be one of: low | high | 3"),
        ("colour=blue", "argument colour must be one of: r | g"),
        ("place=Rome", "argument place must be JSON: "),
        ("place=[1]", "argument place must be an object, in JSON"),
        ("text:=nope", "argument text must be JSON: "),
        (f"text={'x' * 41}", "argument text must be string of at most 40 characters"),
        ("when=tomorrow", "argument when must be string (date)"),
        ("placce=1", "tool has no argument placce"),
        ("place.town=1", "tool has no argument place.town"),
        ("=1", "not an argument: =1"),
        ("[1]", "not an argument: [1]"),
        ("{1}", "the arguments are not JSON"),
        ("@missing.json", "the arguments: cannot read missing.json"),
        ("text=\udc80", "argument 'text' is not UTF-8"),
    ],
)
def test_a_word_that_does_not_fit_is_named_with_what_the_schema_wants(word: str, problem: str) -> None:
    with pytest.raises(CommandFailed) as failure:
        Arguments("tool", SCHEMA).read([word])
    assert failure.value.code is ExitCode.USAGE
    assert failure.value.problem.startswith(problem)


def test_an_open_schema_takes_further_arguments_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    assert Arguments("tool", schema).read(["nam=3"]) == {"nam": 3}
    assert capsys.readouterr().err == "warning: tool has no argument nam; did you mean name?\n"


def test_files_are_text_json_or_base64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("hello")
    Path("a.bin").write_bytes(b"\xff\x00")
    Path("a.json").write_text('["x"]')
    read = Arguments("tool", SCHEMA).read
    assert read(["text=@a.txt", "data=@a.bin", "tags:=@a.json"]) == {
        "text": "hello", "data": "/wA=", "tags": ["x"],
    }  # fmt: skip
    with pytest.raises(CommandFailed, match=r"a\.bin is not text"):
        read(["text=@a.bin"])


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(CommandFailed, match=f"/dev/zero is larger than {FILE_BYTES} bytes"):
        Arguments("tool", SCHEMA).read(["text=@/dev/zero"])


CYCLE: dict[str, Any] = {
    "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
    "$ref": "#/$defs/A",
}
FOREST: dict[str, Any] = {"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}] * 1000}}, "$ref": "#/$defs/A"}
LISTS: dict[str, Any] = {
    "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}},
    "$ref": "#/$defs/A",
}


HOSTILE = [
    *(CYCLE, FOREST, {"$ref": "https://example.com/schema"}, {"$ref": "#/no/where"}),
    *({"enum": 3}, {"type": 7}, {"type": "unknown"}, True, None, "x"),
]


@pytest.mark.parametrize("schema", HOSTILE)
def test_a_hostile_schema_costs_little_and_accepts_or_refuses(schema: Any) -> None:
    assert len(describe(schema, schema)) <= 4 * CHARACTERS + 1
    try:
        assert read_value("word", schema, schema) == "word"
    except Misfit as error:
        assert len(str(error)) <= 4 * CHARACTERS + 20


def test_arrays_of_themselves_end() -> None:
    assert describe(LISTS, LISTS) == "array of array of array"
    with pytest.raises(Misfit):
        read_value("word", LISTS, LISTS)
