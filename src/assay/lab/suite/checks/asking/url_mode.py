"""Pages that a user is sent to are named in full, and their addresses give nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ELICIT, URL_REQUIRED, Question, questions
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

SECRETS: Final = frozenset(
    {"access_token", "api_key", "apikey", "client_secret", "id_token", "password", "passwd", "refresh_token"}
)
"""Parameters that are credentials by their name; an opaque one may be a mere number."""
ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"]+")
DEVELOPMENT: Final = (".localhost", ".local", ".test", ".internal")


@check(
    "Elicitations in url mode are complete and safe",
    rows=("EL-07", "EL-08", "EL-20", "EL-21", "EL-30", "EL-32"),
)
def judge(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, ELICIT):
        if question.mode == "url":
            yield from _asked(question, named=trace.revision.elicitation_ids)
    for message in trace.received:
        if message.code == URL_REQUIRED:
            yield from _required(message)


def _asked(question: Question, *, named: bool) -> Iterator[Observation]:
    wanted = ["message", "url", *(["elicitationId"] if named else [])]
    missing = [key for key in wanted if not isinstance(question.params.get(key), str)]
    expected = f"{', '.join(wanted)}, each a text"
    yield observe("EL-07", not missing, question, expected=expected, observed=f"no {', '.join(missing)}")
    url = question.params.get("url")
    if isinstance(url, str):
        parts = split(url)
        yield observe("EL-08", parts is not None, question, expected="a valid URL", observed=repr(url))
        if parts is not None:
            yield from _safe(parts, question)


def _safe(parts: SplitResult, question: Question) -> Iterator[Observation]:
    secrets = given_away(parts)
    expected = "no credentials in the URL"
    yield observe("EL-30", not secrets, question, expected=expected, observed=", ".join(secrets))
    if parts.scheme in ("http", "https"):
        safe = parts.scheme == "https" or _is_development(parts.hostname or "")
        yield observe("EL-32", safe, question, expected="an https URL", observed=parts.geturl())


def _required(message: Message) -> Iterator[Observation]:
    """The error that says which pages must be visited first."""
    data = message.error.get("data")
    listed: Any = data.get("elicitations") if isinstance(data, dict) else None
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    urls = [one for one in entries if one.get("mode") == "url"]
    expected = "this error only where a page must be visited"
    yield observe("EL-20", bool(urls), message, expected=expected, observed=f"{len(entries)} elicitations")
    named = all(isinstance(one.get("elicitationId"), str) for one in urls)
    complete = isinstance(listed, list) and len(urls) == len(listed) and named
    expected = "`data.elicitations`, each in url mode and with an `elicitationId`"
    yield observe("EL-21", complete, message, expected=expected, observed=str(listed)[:120])


def split(url: str) -> SplitResult | None:
    """The parts of a URL; none where it is not a valid one."""
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    hosted = parts.scheme not in ("http", "https") or bool(parts.hostname)
    return parts if ABSOLUTE.fullmatch(url) and hosted and port_is_valid else None


def given_away(parts: SplitResult) -> list[str]:
    """What in a URL lets whoever reads it pass for somebody else."""
    pairs = [*parse_qsl(parts.query), *parse_qsl(parts.fragment)]
    named = [key for key, _ in pairs if key.lower() in SECRETS]
    return [*named, *(["a password"] if parts.password else [])]


def _is_development(host: str) -> bool:
    if host == "localhost" or host.endswith(DEVELOPMENT):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
