"""The page as a file: its content, its omissions, and that no data becomes markup.

`make system` tests its behaviour in a real browser.
"""

import json
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report.html.block import block, plain, ticked
from assay.lab.report.html.caption import captions
from assay.lab.report.html.entries import keys
from assay.lab.report.html.evidence import LONGEST, evidence
from assay.lab.report.html.summary import broken, matrix
from assay.lab.report.registry import renderer
from assay.revisions.registry import REVISIONS
from tests.lab.runs import cell, run_of
from tests.lab.traces import http_trace, request, result, stdio_trace

HOSTILE = '</script><script>alert(1)</script><!--<script><img src=x onerror=alert(2)>"\u202e'


class Page(HTMLParser):
    """The elements of a page, and the text of each script by its id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str | None, str] = {}
        self.texts: list[str] = []
        self._inside: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = dict(attrs).get("id", tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + data
        else:
            self.texts.append(data)

    @property
    def data(self) -> Any:
        return json.loads(self.scripts["run"])


def with_trace(tmp_path: Path, result: CellResult, trace: Trace) -> CellResult:
    """The cell with its trace on disk."""
    path = tmp_path / f"{result.scenario}-{len(list(tmp_path.iterdir()))}.ndjson"
    path.write_bytes(dump_trace(trace))
    return msgspec.structs.replace(result, trace=str(path))


def page_of(*cells: CellResult, **fields: Any) -> Page:
    return Page(renderer("html")(run_of(*cells, **fields)))


PING = stdio_trace((">", request(1, "ping")), ("<", result(1)))
FAILED = cell("tools.unknown-name", ("tools.unknown-name", Verdict.FAILURE))
PASSED = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
WARNED = cell("tools.definitions", ("tools.input-schema", Verdict.WARNING))


def hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_page_loads_nothing_and_allows_only_its_own_script_and_styles() -> None:
    page = page_of(FAILED, PASSED)
    (policy,) = [
        fields["content"]
        for _, fields in page.elements
        if fields.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None and policy.startswith("default-src 'none'; ")
    assert f"script-src {hashed(page.scripts['script'])};" in policy
    assert f"style-src {hashed(page.scripts['style'])};" in policy
    assert not [
        fields for _, fields in page.elements if {"src", "style", "srcset", "onclick"} & fields.keys()
    ]
    assert "link" not in {tag for tag, _ in page.elements}


def test_page_is_ascii_whatever_the_run_contains() -> None:
    renderer("html")(run_of(msgspec.structs.replace(FAILED, title="größer ⏎ 日本"))).encode("ascii")


def test_nothing_that_a_server_sent_is_markup(tmp_path: Path) -> None:
    (check,) = FAILED.checks
    finding = msgspec.structs.replace(check.findings[0], observed=HOSTILE, statement=HOSTILE, link=HOSTILE)
    hostile = msgspec.structs.replace(
        FAILED, title=HOSTILE, checks=[msgspec.structs.replace(check, title=HOSTILE, findings=[finding])]
    )
    trace = stdio_trace((">", request(HOSTILE, HOSTILE)), ("<", HOSTILE.encode()))
    page = page_of(with_trace(tmp_path, hostile, trace), stale=[HOSTILE], problem=HOSTILE)
    plain_page = page_of(with_trace(tmp_path, FAILED, PING), stale=["x"], problem="x")
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain_page.elements]
    assert page.data["cells"][0]["title"] == HOSTILE
    assert json.loads(page.scripts["trace-0"])[1]["raw"] == HOSTILE


def test_checks_are_there_with_findings_titles_and_links() -> None:
    data = page_of(FAILED, PASSED).data
    failed, passed = data["cells"]
    (check,) = failed["checks"]
    assert (check["verdict"], check["findings"][0]["expected"]) == ("FAILURE", "this")
    assert data["titles"]["lifecycle.ping"] == "title of lifecycle.ping"
    assert data["citations"][passed["checks"][0]["cited"]] == {"TL-19": "link"}
    assert failed["area"] == "tools"


def test_frames_have_captions_and_bytes(tmp_path: Path) -> None:
    page = page_of(with_trace(tmp_path, FAILED, PING))
    ping, pong = json.loads(page.scripts["trace-0"])
    assert (ping["from"], ping["text"], ping["note"]) == ("driver", "ping", "id 1")
    assert (pong["from"], pong["text"], pong["note"]) == ("subject", "result", "id 1 · ping")
    assert json.loads(pong["raw"]) == result(1)
    assert "excerpt" not in page.data["cells"][0]["checks"][0]["findings"][0]


def test_captions_of_answers_to_a_client_name_the_method(tmp_path: Path) -> None:
    trace = stdio_trace(("<", request(1, "ping")), (">", result(1)))
    page = page_of(with_trace(tmp_path, FAILED, trace), role="client", suite="client")
    ping, pong = json.loads(page.scripts["trace-0"])
    assert (ping["from"], ping["text"]) == ("subject", "ping")
    assert (pong["from"], pong["note"]) == ("driver", "id 1 · ping")
    assert page.data["role"] == "client"
    assert "Coverage" in page.texts


def run_with(tmp_path: Path, *cells: CellResult) -> Run:
    return run_of(*(with_trace(tmp_path, each, PING) for each in cells))


def test_frames_of_findings_take_precedence(tmp_path: Path) -> None:
    run = run_with(tmp_path, PASSED, WARNED, FAILED)
    complete = evidence(run)
    assert all(frames.block for frames in complete.values())
    room = len(complete[2].block) + Path(run.cells[1].trace).stat().st_size
    limited = evidence(run, budget=room)
    assert [bool(limited[n].block) for n in range(3)] == [False, True, True]
    assert limited[0].missing == "left out to keep this page small"


def test_page_gives_the_reason_for_missing_frames(tmp_path: Path) -> None:
    gone = msgspec.structs.replace(FAILED, trace=str(tmp_path / "gone.ndjson"))
    changed = with_trace(tmp_path, PASSED, PING)
    path = Path(changed.trace)
    path.write_bytes(path.read_bytes().replace(b"ping", b"pong", 1))
    page = page_of(gone, changed)
    assert page.data["cells"][0]["missing"] == "not shown: No such file or directory"
    assert "the hash chain is broken" in page.data["cells"][1]["missing"]
    assert any("frames of 2 scenario runs are not in this page" in text for text in page.texts)
    assert page.data["cells"][0]["checks"][0]["findings"][0]["excerpt"]


def test_long_frame_is_truncated_with_a_count(tmp_path: Path) -> None:
    trace = stdio_trace(("<", b"x" * (LONGEST + 7)))
    (frame,) = json.loads(evidence(run_of(with_trace(tmp_path, FAILED, trace)))[0].block)
    assert (len(frame["raw"]), frame["cut"]) == (LONGEST, 7)


def test_matrix_counts_runs_by_area_and_revision() -> None:
    older = msgspec.structs.replace(PASSED, revision=REVISIONS[0].date)
    absent = cell("http.ended-session", outcome=Outcome.NOT_APPLICABLE)
    table = matrix(run_of(FAILED, WARNED, PASSED, older, absent))
    boxes = {(name, n): box for name, _, row in table.rows for n, box in enumerate(row)}
    tools = boxes["tools", 1]
    assert tools is not None and (tools.good, tools.applying) == (1, 2)
    assert tools.description == "1 passed with warnings, 1 failed"
    assert boxes["tools", 0] is None
    assert table.total.applying == 4
    assert (table.rows[0][1].applying, table.rows[0][1].description) == (0, "1 not applicable")


def test_each_broken_rule_is_at_the_top_once_failures_first() -> None:
    again = msgspec.structs.replace(FAILED, transport="http")
    rules = broken(run_of(WARNED, FAILED, again))
    assert [(rule.check.id, rule.places) for rule in rules] == [
        ("tools.input-schema", 1),
        ("tools.unknown-name", 2),
    ]
    assert rules[1].link == f"#run=tools.unknown-name/stdio/{FAILED.revision}&check=tools.unknown-name"


def test_findings_that_the_baseline_expects_come_last_with_a_note() -> None:
    page = page_of(FAILED, WARNED, expected=["tools.unknown-name"])
    rules = broken(run_of(FAILED, WARNED, expected=["tools.unknown-name"]))
    assert [rule.expected for rule in rules] == [False, True]
    assert any("expected by the baseline" in text for text in page.texts)


def test_every_cell_has_a_unique_key() -> None:
    assert len(set(keys(run_of(FAILED, FAILED, PASSED)))) == 3


def test_coverage_shows_every_rule_of_the_protocol_suite_and_where_it_broke() -> None:
    page = page_of(FAILED)
    rows = [fields for tag, fields in page.elements if tag == "tr" and "data-kinds" in fields]
    assert len(rows) > 300
    assert sum(fields["data-broken"] == "1" for fields in rows) == 1
    assert any(text.startswith("Excluded: ") for text in page.texts)


def test_other_suites_have_no_coverage_page() -> None:
    assert "coverage" not in {fields.get("id") for _, fields in page_of(FAILED, suite="everything").elements}


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ([(">", "1/post-1", Kind.REQUEST, b"GET /mcp HTTP/1.1\r\n\r\n")], [("GET /mcp", "", False)]),
        (
            [(">", "1/post-1", Kind.REQUEST, b'POST / HTTP/1.1\r\n\r\n{"method":"a"}')],
            [("a", "notification · POST /", False)],
        ),
        (
            [("<", "1/post-1", Kind.HEAD, b"HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\n\r\n")],
            [("404 Not Found", "text/html", True)],
        ),
        ([("<", "1/ws", Kind.TEXT, b'{"id":1,"error":{"code":-32601}}')], [("error -32601", "id 1", True)]),
        (
            [("<", "1/ws", Kind.TEXT, b"7")],
            [("not a JSON object", "", True)],
        ),
        (
            [(">", "1/ws", Kind.TEXT, b'[{"id":1,"method":"a"},{"method":"b"}]')],
            [("2 messages", "a, b", False)],
        ),
        ([("<", "1/errors", Kind.ERRORS, b"oh\n")], [("errors", "3 bytes", False)]),
    ],
)
def test_caption_has_method_id_and_status(frames: list[Any], words: list[tuple[str, str, bool]]) -> None:
    assert [(caption.text, caption.note, caption.bad) for caption in captions(http_trace(frames))] == words


@pytest.mark.parametrize(
    ("kind", "info", "words"),
    [
        (Kind.MARK, {"label": "probe", "name": "x"}, ("probe", "name x", False)),
        (Kind.END, {"clean": True, "problem": ""}, ("end", "", False)),
        (Kind.END, {"clean": False, "problem": "reset"}, ("cut off", "problem reset", True)),
        (Kind.EXIT, {"status": -9}, ("exit", "status -9", False)),
    ],
)
def test_frames_without_bytes_have_captions(kind: Kind, info: Any, words: tuple[str, str, bool]) -> None:
    trace = Trace(PING.header, [Frame(0, 0.0, Sender.SUBJECT, "1/lines", kind, info=info)])
    (caption,) = captions(trace)
    assert (caption.text, caption.note, caption.bad) == words


def test_long_ids_and_methods_are_truncated() -> None:
    (caption,) = captions(stdio_trace(("<", {"id": "y" * 9999, "method": "x" * 9999})))
    assert len(caption.text) < 100 and len(caption.note) < 100


def test_data_is_json_without_markup() -> None:
    text = block({"a": f"{HOSTILE}&amp;\u2028"})
    assert text.isascii() and not set("<>&") & set(text)
    assert json.loads(text) == {"a": f"{HOSTILE}&amp;\u2028"}


def test_invisible_characters_are_escaped() -> None:
    assert plain("a\u202eb\x00\n") == "a\\u202eb␀\n"
    assert ticked("a `<b>` c") == "a <code>&lt;b&gt;</code> c"
