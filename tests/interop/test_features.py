"""The table of `make interop`: missing, skipped and unreadable reports count against a client."""

import json

import pytest

from interop.features import (
    BEGIN,
    CLOSE,
    END,
    FEATURES,
    HANDSHAKE,
    PER_REQUEST,
    TRANSPORTS,
    Cell,
    Column,
    Mark,
    as_json,
    failures,
    is_complete,
    markdown,
    not_applicable,
    read_lines,
    reasons,
    table,
    with_block,
)

REPORTED = [feature for feature in FEATURES if feature != CLOSE]


def line(feature: object, ok: object = True, detail: str = "fine") -> str:
    return json.dumps({"feature": feature, "ok": ok, "detail": detail}) + "\n"


def column(*lines: str, revision: str = HANDSHAKE, transport: str = "http", problem: str = "") -> Column:
    cells = read_lines(lines, not_applicable(revision, transport), problem)
    return Column("Some SDK 1.0", revision, transport, cells)


def all_but(*features: str) -> list[str]:
    return [line(feature) for feature in REPORTED if feature not in features]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_reports_everything_is_complete(transport: str) -> None:
    complete = column(*all_but(), transport=transport)
    assert {cell.mark for cell in complete.cells.values()} == {Mark.WORKS}
    assert is_complete([complete])
    assert failures([complete]) == []


def test_nothing_at_all_is_not_complete() -> None:
    assert not is_complete([])
    assert len(failures([column()])) == len(FEATURES) - 1, "only the end of the program is known"


@pytest.mark.parametrize("feature", REPORTED)
def test_a_missing_line_fails(feature: str) -> None:
    assert failures([column(*all_but(feature))]) == [f"Some SDK 1.0, 2025-11-25, http: {feature}: no line"]


@pytest.mark.parametrize(
    ("spoiled", "complaint"),
    [
        (line("tools", False, "went\n  wrong"), "tools: went wrong"),
        (line("tools", 1), "tools: fine"),
        (line("tools", "true"), "tools: fine"),
        (line("tools", None, "no time"), "tools: skipped: no time"),
        (line("resume", None, "no time"), "resume: skipped: no time"),
        (line("tools") + line("tools"), "close: not a line of a report"),
    ],
)
def test_what_is_not_true_fails(spoiled: str, complaint: str) -> None:
    feature = "resume" if "resume" in spoiled else "tools"
    (failure, *_) = reversed(failures([column(*all_but(feature), spoiled)]))
    assert failure.startswith(f"Some SDK 1.0, 2025-11-25, http: {complaint}")


def test_a_feature_reported_twice_fails() -> None:
    assert failures([column(*all_but(), line("tools"))]) == [
        "Some SDK 1.0, 2025-11-25, http: tools: reported twice"
    ]


@pytest.mark.parametrize("noise", ["hello\n", "[]\n", "null\n", "{}\n", line("juggling"), line(CLOSE)])
def test_noise_fails_the_end(noise: str) -> None:
    noisy = column(*all_but(), noise)
    assert [feature for feature, cell in noisy.cells.items() if cell.mark is Mark.FAILS] == [CLOSE]


def test_a_program_that_ended_badly_explains_what_is_missing() -> None:
    failed = column(*all_but("cancel"), problem="the program ended with code 9")
    assert failures([failed]) == [
        "Some SDK 1.0, 2025-11-25, http: cancel: no line: the program ended with code 9",
        "Some SDK 1.0, 2025-11-25, http: close: the program ended with code 9",
    ]


@pytest.mark.parametrize(("revision", "transport"), [(HANDSHAKE, "stdio"), (PER_REQUEST, "http")])
def test_a_client_may_lack_what_does_not_apply(revision: str, transport: str) -> None:
    lines = [*all_but("polling"), line("polling", None, "no streams")]
    excused = column(*lines, revision=revision, transport=transport)
    assert excused.cells["polling"] == Cell(Mark.NO_API, "no streams")
    assert is_complete([excused, excused])
    assert reasons([excused, excused]) == [f"polling on {revision} over {transport}: no streams"]


def test_the_tables_show_every_feature_of_every_client() -> None:
    columns = [column(*all_but("tools")), column(*all_but(), transport="stdio", revision=PER_REQUEST)]
    lines = table(columns).splitlines()
    assert [row.split()[-2:] for row in lines[3:5]] == [["✓", "✓"], ["✗", "✓"]]
    assert len(lines) == 3 + len(FEATURES) + 1
    page = markdown(columns)
    assert all(f"| {feature} |" in page for feature in FEATURES)
    assert "| tools | ✗ | ✓ |" in page
    assert [record["transport"] for record in json.loads(as_json(columns))] == ["http", "stdio"]


def test_the_page_keeps_what_is_around_the_table() -> None:
    page = f"# Title\n\n{BEGIN}\nold\n{END}\n\nafter\n"
    once = with_block(page, "new")
    assert once == f"# Title\n\n{BEGIN}\nnew\n{END}\n\nafter\n"
    assert with_block(once, "new") == once


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}"])
def test_a_page_without_a_place_for_the_table_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="lacks the marks"):
        with_block(page, "new")
