"""Pictures and tables of other libraries as results. Pillow is real; the others are stood in for by classes
that have the few methods used here, because they take long to install."""

from __future__ import annotations

import base64
import datetime
import io
import json
import subprocess
import sys
import threading
from types import ModuleType
from typing import Any

import pytest
from PIL import Image as pillow

from assay import Server, Text
from assay.server.results.library_value import adapt
from tests.server.results.test_output import listed, returning
from tests.server.scripted import FIRST, NEWEST, ask, call

PIXEL = b"\x89PNG\r\n\x1a\n pixels"
ANY_VALUE = "2026-07-28"


class Timestamp:
    """Not one of Python's types, but with the method of one."""

    def isoformat(self) -> str:
        return "2025-01-02T03:04:05"


class Scalar:
    def tolist(self) -> int:
        return 7


class Missing:
    """What a table has where it has no value."""


class PandasFrame:
    """The part of `pandas.DataFrame` that is used: rows by column, and their conversion to objects."""

    def __init__(self, columns: list[Any], rows: list[list[Any]]) -> None:
        self.columns, self.rows = columns, rows

    def notna(self) -> list[list[bool]]:
        return [[not isinstance(value, Missing) for value in row] for row in self.rows]

    def astype(self, kind: type) -> PandasFrame:
        assert kind is object
        return self

    def where(self, present: list[list[bool]], other: Any) -> PandasFrame:
        rows = [
            [value if keep else other for value, keep in zip(row, keeps, strict=True)]
            for row, keeps in zip(self.rows, present, strict=True)
        ]
        return PandasFrame(self.columns, rows)

    def to_dict(self, orient: str) -> list[dict[Any, Any]]:
        assert orient == "records"
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class PolarsFrame:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def to_dicts(self) -> list[dict[str, Any]]:
        return self.rows


class LazyFrame:
    """A table that has not been computed yet."""


class NumpyNumber:
    """A number that is not one of Python's."""


class Figure:
    drawn_in: int | None = None

    def savefig(self, buffer: io.BytesIO, *, format: str) -> None:
        assert format == "png"
        Figure.drawn_in = threading.get_ident()
        buffer.write(PIXEL)


LIBRARIES: dict[str, dict[str, Any]] = {
    "pandas": {"DataFrame": PandasFrame},
    "polars": {"DataFrame": PolarsFrame, "LazyFrame": LazyFrame},
    "numpy": {"generic": NumpyNumber},
    "matplotlib.figure": {"Figure": Figure},
}


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, members in LIBRARIES.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)


FRAME = PandasFrame(
    ["n", "t", 5, "day"],
    [[1, Timestamp(), Scalar(), datetime.date(2025, 1, 2)], [2.5, Missing(), Missing(), "later"]],
)
ROWS = [
    {"n": 1, "t": "2025-01-02T03:04:05", "5": 7, "day": "2025-01-02"},
    {"n": 2.5, "t": None, "5": None, "day": "later"},
]


@pytest.mark.parametrize("annotation", [..., PandasFrame, Any])
@pytest.mark.parametrize(
    ("revision", "structured"), [(NEWEST, {"result": ROWS}), (ANY_VALUE, ROWS), (FIRST, None)]
)
async def test_table_is_structured_and_text(annotation: Any, revision: str, structured: Any) -> None:
    server = returning(annotation, FRAME)
    meta = {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    about = {"_meta": meta} if revision == ANY_VALUE else {}
    answer = await ask(server, "tools/call", revision=revision, name="tool", arguments={}, **about)
    result = answer["result"]
    assert result.get("structuredContent") == structured
    assert json.loads(result["content"][0]["text"]) == (structured or {"result": ROWS})


async def test_declared_table_has_a_schema_of_rows() -> None:
    schema = (await listed(returning(PandasFrame, FRAME)))["outputSchema"]
    assert schema["properties"]["result"] == {"type": "array", "items": {"type": "object"}}
    assert "outputSchema" not in await listed(returning(..., FRAME))


async def test_polars_table_has_its_rows() -> None:
    result = await call(returning(PolarsFrame, PolarsFrame([{"a": 1, "b": float("nan")}])), "tool")
    assert result["structuredContent"] == {"result": [{"a": 1, "b": None}]}


async def test_table_inside_json_has_its_rows() -> None:
    result = await call(returning(..., {"table": PolarsFrame([{"a": 1}])}), "tool")
    assert result == {"content": [{"type": "text", "text": '{"table":[{"a":1}]}'}]}


async def test_column_names_must_differ(caplog: Any) -> None:
    result = await call(returning(..., PandasFrame(["1", 1], [[1, 2]])), "tool")
    assert result["isError"]
    assert "rename one of the columns '1'" in caplog.text


@pytest.mark.parametrize(
    ("value", "hint"), [(LazyFrame(), "return frame.collect()"), (NumpyNumber(), "return value.item()")]
)
async def test_value_that_needs_a_step_more_names_it(value: Any, hint: str, caplog: Any) -> None:
    assert (await call(returning(..., value), "tool"))["isError"]
    assert f"{type(value).__name__} is not a JSON type: {hint}" in caplog.text


@pytest.mark.parametrize(
    "mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "PA", "RGBa", "I", "F"]
)
@pytest.mark.parametrize("annotation", [..., pillow.Image])
async def test_pillow_image_becomes_png(mode: str, annotation: Any) -> None:
    server = returning(annotation, pillow.new(mode, (3, 2)))
    (block,) = (await call(server, "tool"))["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    image = pillow.open(io.BytesIO(base64.b64decode(block["data"])))
    assert (image.format, image.size) == ("PNG", (3, 2))
    assert "outputSchema" not in await listed(server)


@pytest.mark.parametrize("annotation", [..., list[pillow.Image]])
async def test_list_of_images_and_text_becomes_blocks(annotation: Any) -> None:
    image = pillow.new("L", (1, 1))
    content = (await call(returning(annotation, [image, "a", image, Text("b")]), "tool"))["content"]
    assert [block["type"] for block in content] == ["image", "text", "image", "text"]


async def test_image_of_a_resource_or_prompt_becomes_png() -> None:
    server = Server("test")
    server.resource("picture://one")(lambda: pillow.new("L", (1, 1)))
    server.prompt(name="show")(lambda: pillow.new("L", (1, 1)))
    (contents,) = (await ask(server, "resources/read", uri="picture://one"))["result"]["contents"]
    assert contents["mimeType"] == "image/png"
    assert base64.b64decode(contents["blob"]).startswith(b"\x89PNG")
    (message,) = (await ask(server, "prompts/get", name="show"))["result"]["messages"]
    assert message["content"]["type"] == "image"


async def test_figure_of_a_def_handler_is_drawn_in_its_thread() -> None:
    server = Server("test")

    @server.tool
    def plot() -> Figure:
        return Figure()

    (block,) = (await call(server, "plot"))["content"]
    assert base64.b64decode(block["data"]) == PIXEL
    assert Figure.drawn_in not in (None, threading.get_ident())


def test_other_values_are_not_touched() -> None:
    for value in (None, 1, "a", [1, "a"], (1,), {"a": 1}, object(), type):
        assert adapt(value) is value


def test_libraries_are_not_imported() -> None:
    code = (
        "import sys\nfrom assay import Server\nserver = Server('a')\n"
        "@server.tool\ndef f(): return object()\n"
        "import asyncio\nasyncio.run(server.tools.call('f'))\n"
        "print(*({'PIL', 'matplotlib', 'pandas', 'polars', 'numpy', 'mimetypes'} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20)
    assert run.stdout.strip() == ""
