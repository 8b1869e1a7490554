"""Plausible values for an argument, from its format, its name and what its description mentions."""

from __future__ import annotations

import re
from typing import Any, Final

LONGEST_DESCRIPTION: Final = 4_000
_BETWEEN_WORDS: Final = re.compile(r"[_\-.\s/]+|(?<=[a-z0-9])(?=[A-Z])")
_EXAMPLE: Final = re.compile(
    r"\b(?:e\.g\.,?|eg\b[.:,]?|for example,?:?|for instance,?|such as|examples?\s*[:=]|like\b)"
    r"\s*(?P<rest>[^\n]{1,200})",
    re.IGNORECASE,
)
_CHOICES: Final = re.compile(
    r"\b(?:one of|either|options?(?: are)?|valid values?(?: are)?|allowed(?: values?)?|can be|must be)"
    r"\s*[:=]?\s*(?P<rest>[^\n.;]{1,200})",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"""(?<!\w)(?:"([^"\n]{1,120})"|'([^'\n]{1,120})'|`([^`\n]{1,120})`)""")
_BARE: Final = re.compile(r"[^\s,;()\[\]\"'`]+")
_BETWEEN_CHOICES: Final = re.compile(r"\s*(?:,|\||/|\bor\b)\s*")
_END_OF_WORD: Final = ".:!?"
_REMOVING: Final = (
    "cancel|clean|clear|close|delete|destroy|drop|erase|kill|logout|prune|purge|remove|reset|revoke|shutdown|"
    "stop|truncate|uninstall|unregister|wipe"
)
_REMOVES: Final = re.compile(rf"\b(?:{_REMOVING})(?:e?s)?\b")
_CHANGES: Final = re.compile(
    rf"\b(?:{_REMOVING}|add|append|apply|copy|create|edit|insert|make|modify|move|patch|put|rename|replace|save|set|"
    r"update|upload|write)(?:e?s)?\b"
)
_A_WORD: Final = re.compile(r"[\w.+-]{1,40}")

FORMATS: Final = {
    "date": "2024-03-01",
    "date-time": "2024-03-01T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "lab@assay.example",
    "idn-email": "lab@assay.example",
    "hostname": "assay.example",
    "idn-hostname": "assay.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://assay.example/",
    "url": "https://assay.example/",
    "iri": "https://assay.example/",
    "uri-reference": "/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "json-pointer": "/a",
    "regex": ".*",
    "byte": "YXNzYXk=",
    "color": "#336699",
}
# What a word in a name, or else in a description, suggests for a text. The first that matches is used.
_BY_WORD: Final = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), value)
    for words, value in (
        (r"e ?mails?", FORMATS["email"]),
        (r"ur[il]s?|links?|website|endpoint|href", FORMATS["uri"]),
        (r"uuid|guid", FORMATS["uuid"]),
        (r"date ?time|timestamp|iso 8601|rfc 3339", FORMATS["date-time"]),
        (r"time ?zones?|tz", "UTC"),
        (r"dates?|yyyy mm dd|since|until|day", FORMATS["date"]),
        (r"time|hh mm", "12:00"),
        (r"host(?: ?names?)?|domains?", FORMATS["hostname"]),
        (r"ip(?: ?addresse?s?)?", FORMATS["ipv4"]),
        (r"cron|schedule", "0 0 * * *"),
        (r"dir(?:ectory|ectories)?|folders?", "."),
        (r"globs?", "*"),
        (r"file ?names?|files?|paths?", "README.md"),
        (r"regex|regular expression|patterns?", ".*"),
        (r"sql", "SELECT 1"),
        (r"expressions?|formulas?|equations?|math", "1 + 1"),
        (r"json", "{}"),
        (r"html", "<p>Hello</p>"),
        (r"xml", "<a/>"),
        (r"base ?64", FORMATS["byte"]),
        (r"colou?rs?", FORMATS["color"]),
        (r"lat(?:itude)?", "51.5"),
        (r"lo?ng?(?:itude)?", "-0.1"),
        (r"city|cities|towns?|places?|locations?|address(?:es)?", "London"),
        (r"country code", "GB"),
        (r"country|countries", "France"),
        (r"state", "CA"),
        (r"lang(?:uages?)?|locales?", "en"),
        (r"currency|currencies", "EUR"),
        (r"symbols?|tickers?|stocks?", "AAPL"),
        (r"units?", "celsius"),
        (r"phone|mobile", "+442071838750"),
        (r"year", "2024"),
        (r"month", "3"),
        (r"version", "1.0.0"),
        (r"amount|price|number|count|limit|size|page|port|index|integer|numeric", "1"),
        (r"ids?|identifiers?|keys?|number", "1"),
        (r"command|cmd", "help"),
        (r"code|script|snippet", "print(1)"),
        (r"query|queries|search|keywords?|terms?|topics?|questions?|q", "weather"),
        (r"messages?|texts?|contents?|body|comments?|prompts?|input|notes?", "Hello, world"),
        (r"titles?|subject|headline", "A short title"),
        (r"user ?names?|users?|authors?|owners?|persons?|people", "alice"),
        (r"tags?|labels?|categor(?:y|ies)", "general"),
    )
)
_SQL: Final = {
    "create table": "CREATE TABLE IF NOT EXISTS assay_sample (id INTEGER)",
    "select": "SELECT 1",
    "insert": "INSERT INTO assay_sample (id) VALUES (1)",
}
_NUMBERS: Final = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), value)
    for words, value in (
        (r"lat(?:itude)?", 51.5),
        (r"lon|lng|long(?:itude)?", -0.1),
        (r"years?", 2024),
        (r"months?|days?", 3),
        (r"ports?", 8080),
        (r"offset|skip|start|index", 0),
        (r"width|height|pixels?", 100),
        (r"limit|count|max|top|n|k|size|depth", 3),
    )
)


def words_of(name: str) -> str:
    """`userId` and `user_id` as `user id`."""
    return " ".join(_BETWEEN_WORDS.split(name)).lower().strip()


def seems_to_change(tool: dict[str, Any]) -> bool:
    """Whether the name of a tool mentions a change, as `write_file` does."""
    return _CHANGES.search(words_of(str(tool.get("name")))) is not None


def seems_to_remove(tool: dict[str, Any]) -> bool:
    """Whether the name of a tool mentions that something is gone afterwards, as `delete_user` does."""
    return _REMOVES.search(words_of(str(tool.get("name")))) is not None


def mentioned(description: Any) -> list[str]:
    """Values that a description gives as examples or as the choices, in its order."""
    if not isinstance(description, str):
        return []
    text = description[:LONGEST_DESCRIPTION]
    values = [value for match in _EXAMPLE.finditer(text) for value in _values(match["rest"])]
    values += [value for match in _CHOICES.finditer(text) for value in _choices(match["rest"])]
    return list(dict.fromkeys(value for value in values if value))[:8]


def _values(rest: str) -> list[str]:
    """What follows `e.g.`: the quoted values if it begins with a quote, else its first word."""
    if rest[0] in "\"'`(":
        return ["".join(match.groups("")) for match in _QUOTED.finditer(rest)]
    word = _BARE.match(rest)
    return [] if word is None else [word[0].rstrip(_END_OF_WORD)]


def _choices(rest: str) -> list[str]:
    """What follows `one of`: all quoted values, or single words between commas."""
    quoted = ["".join(match.groups("")) for match in _QUOTED.finditer(rest)]
    if quoted:
        return quoted
    parts = _BETWEEN_CHOICES.split(rest.strip(" ()[]"))
    return parts if len(parts) > 1 and all(_A_WORD.fullmatch(part) for part in parts) else []


def described_in(tool: dict[str, Any], name: str) -> str:
    """What the description of a tool has on an argument, as docstrings do: `city: name, e.g. London`."""
    text = tool.get("description")
    if not isinstance(text, str):
        return ""
    begin = rf"^\s*[-*:]*\s*(?:param\s+)?`?{re.escape(name)}`?"
    line = re.compile(begin + r"\s*(?:\([^)\n]{0,80}\))?\s*[:-](.*)$", re.MULTILINE)
    match = line.search(text[:LONGEST_DESCRIPTION])
    return "" if match is None else match[1].strip()


def plausible_texts(name: str, description: str, form: Any, purpose: str = "") -> list[str]:
    """Texts to try for an argument of a tool with this purpose, the likeliest first. Each argument has a word
    of its own at the end."""
    words = words_of(name)
    by_format = [FORMATS[form]] if isinstance(form, str) and form in FORMATS else []
    by_name = [value for pattern, value in _BY_WORD if pattern.search(words)][:2]
    by_description = [value for pattern, value in _BY_WORD if pattern.search(words_of(description))][:1]
    own = f"sample {words}".strip()
    named = [*by_format, *mentioned(description), *_statements(words, description, purpose)]
    return list(dict.fromkeys([*named, *by_name, *by_description, own]))


def _statements(words: str, description: str, purpose: str) -> list[str]:
    """SQL statements of the kinds that the descriptions mention; a read if they mention none."""
    if not re.search(r"\bsql\b", f"{words} {description}", re.IGNORECASE):
        return []
    kinds = [
        statement
        for text in (description, purpose)
        for kind, statement in _SQL.items()
        if re.search(rf"\b{kind}\b", text[:LONGEST_DESCRIPTION], re.IGNORECASE)
    ]
    return [*kinds, _SQL["select"]]


def plausible_number(name: str, description: str) -> float:
    words = words_of(name)
    for text in mentioned(description):
        if re.fullmatch(r"-?\d{1,12}(?:\.\d{1,6})?", text):
            return float(text) if "." in text else int(text)
    return next((value for pattern, value in _NUMBERS if pattern.search(words)), 1)
