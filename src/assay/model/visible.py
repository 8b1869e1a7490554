"""Text of any origin on a terminal, in a log or in a report: what would act there is shown instead.

A terminal obeys control characters, a bidirectional control reorders a line, an invisible character hides
part of it, and CI systems take some lines of a job's output as commands. Every escape for a character that
JSON leaves as it is, is valid in a JSON string: JSON keeps its meaning.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from traceback import TracebackException

_PICTURES: Final = 0x2400
"""Where Unicode has the pictures of the first 32 control characters, as ␛ for escape."""
# Control and format characters, separators of lines and paragraphs, surrogates, and letters without a glyph.
_ACTING: Final = (
    "\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_IN_A_LINE: Final = f"[\x00-\x1f{_ACTING}]"
_IN_LINES: Final = f"[\x00-\x09\x0b-\x1f{_ACTING}]"
_STANDARD_ERROR: Final = "\n  stderr: "
"""How a reason shows what a subject wrote before it ended."""
# GitHub accepts spaces before a command. It and Azure Pipelines find the form with ## anywhere in a line.
_COMMAND: Final = r"(?m)^([^\S\n]*):(?=:.*::)|#(?=#(?:vso|teamcity)?\[)"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)  # when first used: it takes longer than importing this module


def visible(text: str) -> str:
    """The text in one line, in which nothing acts."""
    return _without_commands(_pattern(_IN_A_LINE).sub(_shown, text))


def visible_lines(text: str) -> str:
    """The text in lines of its own, in which nothing acts."""
    return _without_commands(_pattern(_IN_LINES).sub(_shown, text))


def visible_reason(text: str) -> str:
    """The text in one line, with the subject's lines of standard error below it if it has them."""
    return _STANDARD_ERROR.join(map(visible, text.split(_STANDARD_ERROR)))


def visible_values(value: Any) -> Any:
    """A JSON value with every string, keys included, in one line."""
    match value:
        case str():
            return visible_reason(value)
        case list():
            return [visible_values(item) for item in value]
        case dict():
            return {visible(key): visible_values(item) for key, item in value.items()}
    return value


def visible_record(record: Any) -> bool:
    """A filter for a logger: no text of a client begins a line or acts. Harmless records stay as they are."""
    message = record.getMessage()
    if visible(message) != message:
        record.msg, record.args = visible(message), ()
    if record.exc_info and record.exc_info[1] is not None:
        from traceback import TracebackException

        record.exc_text = visible_traceback(TracebackException.from_exception(record.exc_info[1]))
    return True


def visible_traceback(trace: TracebackException, part_length: int | None = None) -> str:
    """A traceback in lines, in which nothing acts. Each frame and each message is cut at `part_length`."""
    parts = (
        part if len(part) <= (part_length or len(part)) else f"{part[:part_length]}…\n"
        for part in trace.format()
    )
    return "".join(map(_traceback_part, parts)).rstrip("\n")


def _traceback_part(part: str) -> str:
    """The text of an exception in one line; the other parts have lines of their own."""
    if part.startswith((" ", "\n", "Traceback")):
        return visible_lines(part)
    return f"{visible(part.removesuffix(chr(10)))}\n"


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _without_commands(text: str) -> str:
    if "::" not in text and "##" not in text:  # quick, and nearly always
        return text
    return _pattern(_COMMAND).sub(lambda match: "\\u0023" if match[1] is None else f"{match[1]}\\u003a", text)
