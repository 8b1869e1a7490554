"""Text that would act on a terminal, in a log or in a CI system is shown instead."""

import json
import logging
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.visible import visible, visible_lines, visible_reason, visible_record, visible_values

ACTING = ("Cc", "Cf", "Zl", "Zp", "Cs")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x9b31m\x7f", "\\u009b31m\\u007f"),
        ("admin\u202etxt.exe", "admin\\u202etxt.exe"),
        ("pay\u200bpal\u2066\u061c\u200f", "pay\\u200bpal\\u2066\\u061c\\u200f"),
        ("a\U000e0041b", "a\\udb40\\udc41b"),
        ("a\r\nb\tc\u2028d", "a␍␊b␉c\\u2028d"),
        ("::set-output name=x::y", "\\u003a:set-output name=x::y"),
        ("  ::stop-commands::x", "  \\u003a:stop-commands::x"),
        ("\u3000::add-mask::x", "\u3000\\u003a:add-mask::x"),
        ("x ##[error]y", "x \\u0023#[error]y"),
        ("###vso[task.complete]", "#\\u0023#vso[task.complete]"),
        ("##teamcity[buildStop]", "\\u0023#teamcity[buildStop]"),
        ("listens on ::1, std::vector", "listens on ::1, std::vector"),
        ("→ é ⚠️ 漢字 \ufffd ## title", "→ é ⚠️ 漢字 \ufffd ## title"),
    ],
)
def test_what_would_act_is_shown_and_the_rest_stays(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_every_control_and_format_character_of_unicode_is_shown() -> None:
    characters = (chr(code) for code in range(0x110000))
    assert [c for c in characters if unicodedata.category(c) in ACTING and visible(c) == c] == []


@given(st.text() | st.text("\x1b\n:#[ \u202evso"))
def test_shown_text_stays_as_it_is(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert visible_lines(visible_lines(text)) == visible_lines(text)


def test_lines_of_a_text_stay_lines() -> None:
    assert visible_lines("a\x1b\n::error::b\r\nc") == "a␛\n\\u003a:error::b␍\nc"


def test_reason_keeps_the_lines_of_standard_error_only() -> None:
    assert (
        visible_reason("exited\nconforms\n  stderr: a\x07\n  stderr: b")
        == "exited␊conforms\n  stderr: a␇\n  stderr: b"
    )


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_means_the_same_when_it_is_shown(text: str) -> None:
    assert json.loads(visible_lines(json.dumps([text], ensure_ascii=False))) == [text]


def test_values_are_shown_with_their_keys() -> None:
    assert visible_values({"a\x1b": ["\x07", 1, None]}) == {"a␛": ["␇", 1, None]}


def log_of(*arguments: object, error: Exception | None = None) -> str:
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(handler.format(record))  # type: ignore[method-assign]
    logger = logging.Logger("test")
    logger.addHandler(handler)
    logger.addFilter(visible_record)
    logger.error(*arguments, exc_info=error)
    return lines[0]


def test_log_record_stays_one_line() -> None:
    assert log_of("request %r cancelled: %s", 1, "x\n2000-01-01 INFO all is well\x1b[2J") == (
        "request 1 cancelled: x␊2000-01-01 INFO all is well␛[2J"
    )


def test_exception_in_a_log_begins_no_line() -> None:
    try:
        raise ValueError("x\n2000-01-01 INFO all is well\x1b[2J")
    except ValueError as error:
        text = log_of("failed", error=error)
    assert text.splitlines()[-1] == "ValueError: x␊2000-01-01 INFO all is well␛[2J"
    assert text.splitlines()[1] == "Traceback (most recent call last):"


def test_harmless_log_record_keeps_its_form() -> None:
    record = logging.makeLogRecord({"msg": "%s of %d", "args": ("a", 1)})
    assert visible_record(record)
    assert (record.msg, record.args) == ("%s of %d", ("a", 1))
