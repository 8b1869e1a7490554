"""The table behind `make interop`: what a client leaves out, excuses or garbles counts against it."""

import json

import pytest

from interop.matrix import (
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
    meaningless,
    read_lines,
    reasons,
    table,
    with_block,
)

TOLD = [feature for feature in FEATURES if feature != CLOSE]


def line(feature: object, ok: object = True, detail: str = "fine") -> str:
    return json.dumps({"feature": feature, "ok": ok, "detail": detail}) + "\n"


def column(*lines: str, revision: str = HANDSHAKE, transport: str = "http", problem: str = "") -> Column:
    cells = read_lines(lines, meaningless(revision, transport), problem)
    return Column("Some SDK 1.0", revision, transport, cells)


def all_but(*features: str) -> list[str]:
    return [line(feature) for feature in TOLD if feature not in features]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_told_everything_is_complete(transport: str) -> None:
    told = column(*all_but(), transport=transport)
    assert {cell.mark for cell in told.cells.values()} == {Mark.WORKS}
    assert is_complete([told])
    assert failures([told]) == []


def test_nothing_at_all_is_not_complete() -> None:
    assert not is_complete([])
    assert len(failures([column()])) == len(FEATURES) - 1, "only the end of the program is known"


@pytest.mark.parametrize("feature", TOLD)
def test_a_missing_line_fails(feature: str) -> None:
    assert failures([column(*all_but(feature))]) == [f"Some SDK 1.0, 2025-11-25, http: {feature}: no line"]


@pytest.mark.parametrize(
    ("spoiled", "complaint"),
    [
        (line("tools", False, "went\n  wrong"), "tools: went wrong"),
        (line("tools", 1), "tools: fine"),
        (line("tools", "true"), "tools: fine"),
        (line("tools", None, "no time"), "tools: excused itself: no time"),
        (line("resume", None, "no time"), "resume: excused itself: no time"),
        (line("tools") + line("tools"), "close: not a line of a report"),
    ],
)
def test_what_is_not_true_fails(spoiled: str, complaint: str) -> None:
    feature = "resume" if "resume" in spoiled else "tools"
    (failure, *_) = reversed(failures([column(*all_but(feature), spoiled)]))
    assert failure.startswith(f"Some SDK 1.0, 2025-11-25, http: {complaint}")


def test_a_feature_told_twice_fails() -> None:
    assert failures([column(*all_but(), line("tools"))]) == [
        "Some SDK 1.0, 2025-11-25, http: tools: told twice"
    ]


@pytest.mark.parametrize("noise", ["hello\n", "[]\n", "null\n", "{}\n", line("juggling"), line(CLOSE)])
def test_noise_fails_the_end(noise: str) -> None:
    told = column(*all_but(), noise)
    assert [feature for feature, cell in told.cells.items() if cell.mark is Mark.FAILS] == [CLOSE]


def test_a_program_that_ended_badly_explains_what_is_missing() -> None:
    told = column(*all_but("cancel"), problem="the program ended with code 9")
    assert failures([told]) == [
        "Some SDK 1.0, 2025-11-25, http: cancel: no line: the program ended with code 9",
        "Some SDK 1.0, 2025-11-25, http: close: the program ended with code 9",
    ]


@pytest.mark.parametrize(("revision", "transport"), [(HANDSHAKE, "stdio"), (PER_REQUEST, "http")])
def test_a_client_may_lack_what_has_no_meaning_there(revision: str, transport: str) -> None:
    lines = [*all_but("polling"), line("polling", None, "no streams")]
    told = column(*lines, revision=revision, transport=transport)
    assert told.cells["polling"] == Cell(Mark.NO_API, "no streams")
    assert is_complete([told, told])
    assert reasons([told, told]) == [f"polling on {revision} over {transport}: no streams"]


def test_the_tables_show_every_feature_of_every_client() -> None:
    told = [column(*all_but("tools")), column(*all_but(), transport="stdio", revision=PER_REQUEST)]
    shown = table(told).splitlines()
    assert [row.split()[-2:] for row in shown[3:5]] == [["✓", "✓"], ["✗", "✓"]]
    assert len(shown) == 3 + len(FEATURES) + 1
    page = markdown(told)
    assert all(f"| {feature} |" in page for feature in FEATURES)
    assert "| tools | ✗ | ✓ |" in page
    assert [record["transport"] for record in json.loads(as_json(told))] == ["http", "stdio"]


def test_the_page_keeps_what_is_around_the_table() -> None:
    page = f"# Title\n\n{BEGIN}\nold\n{END}\n\nafter\n"
    once = with_block(page, "new")
    assert once == f"# Title\n\n{BEGIN}\nnew\n{END}\n\nafter\n"
    assert with_block(once, "new") == once


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}"])
def test_a_page_without_a_place_for_the_table_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="no place for the table"):
        with_block(page, "new")
