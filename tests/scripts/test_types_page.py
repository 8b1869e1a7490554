"""The comparison of types with fastmcp is up to date, and its reasons are explained."""

from scripts.types_page import KINDS, PAGE, Outcome, Reasons, main, wrong_values
from tests.meta.tree import ROOT
from tests.server.annotations import ROWS, Row


def test_page_and_recorded_schemas_are_up_to_date() -> None:
    assert main(["--check"]) == 0


def test_every_reason_is_a_heading_that_explains_it() -> None:
    text = (ROOT / "docs" / "types.md").read_text("utf-8")
    headings = {line[4:].lower().replace(" ", "-") for line in text.splitlines() if line.startswith("### ")}
    assert set(Reasons().by_name) <= headings


def test_every_reason_names_rows_that_exist() -> None:
    titles = {row.title for row in ROWS}
    for reason in Reasons().by_name.values():
        assert {title for kind in KINDS for title in reason.get(kind, ())} <= titles


def test_every_difference_on_the_page_has_a_reason() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert len(lines) == len(ROWS)
    assert all(line.endswith("|  |") or "[why](../types.md#" in line for line in lines)


def test_value_on_the_wrong_side_is_reported() -> None:
    row = Row("int", good=[1], bad=["1"])
    assert list(wrong_values(row, Outcome(values=((True, "1"), (False, "no"))))) == []
    assert list(wrong_values(row, Outcome(values=((True, "1"), (True, "1"))))) == ["int: accepted: 1"]
