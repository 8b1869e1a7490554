"""URI templates (RFC 6570): expansion on all four levels, and matching back.

Matching is not part of the RFC and cannot always be exact, so the rules are ours:

* a variable takes at least one character; it ends where the literal after it first matches, and the last
  variable that may contain `/` ends where the whole rest of the template first matches;
* of two adjacent variables, the first takes all it can;
* `{?x}`, `{&x}` and `{;x}` are optional and come in any order; an unknown name prevents a match;
* every repetition in the compiled pattern is possessive, so matching takes linear time;
* a value is percent-decoded once and then checked: no variable can leave its place in the path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from .uri import DEVICE, escapes_root, percent_decode, percent_encode

RESERVED: Final = ":/?#[]@!$&'()*+,;="
SEGMENT: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@%"
# Patterns are text, compiled and cached by `re` on first use: a server without templates compiles none.
TOKEN: Final = r"\{[^}]*\}?|[^{]+"
TRIPLET: Final = r"(%[0-9A-Fa-f]{2})"
BROKEN_TRIPLET: Final = r"%(?![0-9A-Fa-f]{2})"
BAD_LITERAL: Final = r"[\x00-\x20\x7f-\xa0\"<>\\^`|}]|%(?![0-9A-Fa-f]{2})"
CONTROL: Final = r"[\x00-\x1f\x7f-\x9f]"
CAPTURE: Final = r"\(\?P<\w+>"
VARIABLE: Final = (
    r"(?a)(?P<name>(?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*)"
    r"(?:(?P<explode>\*)|:(?P<prefix>[1-9][0-9]{0,3}))?\Z"
)

# What a decoded value must not contain, by its place. A leading slash would replace the directory that a
# handler joins the value to; a device is no file of it.
OUT_OF_SEGMENT: Final = rf"/|{DEVICE}"
OUT_OF_PATH: Final = rf"\A/|//|{DEVICE}"
OUT_OF_TEXT: Final = r"\A/"


class InvalidTemplate(ValueError):
    """Not a usable template: the reason, and the position of the character."""

    def __init__(self, text: str, reason: str, position: int) -> None:
        super().__init__(text, reason, position)
        self.text = text
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        return f"not a URI template ({self.reason} at character {self.position}): {self.text!r}"


class UnsafeVariable(ValueError):
    """A URI matches the template, but the value of `name` would leave its place in the path."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"unsafe value for a URI template variable: {self.name}"


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of the table in RFC 6570, appendix A, with the characters that a value may contain before
    decoding (`admits`) and must not contain after it (`forbids`)."""

    first: str
    separator: str
    admits: str
    forbids: str
    named: bool = False
    if_empty: str = ""
    reserved: bool = False


# `admits` follows RFC 3986 and is wider than expansion, which writes `at/10%3A30` for `at/10:30`.
OPERATORS: Final = MappingProxyType(
    {
        "": Operator("", ",", SEGMENT, OUT_OF_SEGMENT),
        "+": Operator("", ",", SEGMENT + "/", OUT_OF_PATH, reserved=True),
        "#": Operator("#", ",", SEGMENT + "/?", OUT_OF_TEXT, reserved=True),
        ".": Operator(".", ".", SEGMENT, OUT_OF_SEGMENT),
        "/": Operator("/", "/", SEGMENT, OUT_OF_SEGMENT),
        ";": Operator(";", ";", SEGMENT, OUT_OF_SEGMENT, named=True),
        "?": Operator("?", "&", SEGMENT + "/?", OUT_OF_TEXT, named=True, if_empty="="),
        "&": Operator("&", "&", SEGMENT + "/?", OUT_OF_TEXT, named=True, if_empty="="),
    }
)


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    explode: bool
    prefix: int | None


@dataclass(frozen=True, slots=True)
class Expression:
    symbol: str
    variables: tuple[Variable, ...]

    @property
    def operator(self) -> Operator:
        return OPERATORS[self.symbol]

    @property
    def spans_segments(self) -> bool:
        return self.symbol == "+" or (self.symbol == "/" and any(v.explode for v in self.variables))


Part: TypeAlias = str | Expression
Value: TypeAlias = str | Sequence[str] | Mapping[str, str]
Reading: TypeAlias = tuple[Expression, Variable, list[str]]


class UriTemplate:
    """A parsed template; `variables` are its names in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = tuple(_parse(text))
        expressions = [part for part in self._parts if isinstance(part, Expression)]
        self.variables = tuple(
            variable.name for expression in expressions for variable in expression.variables
        )
        readable = _merge_queries(self._parts)
        self._expressions = [(i, part) for i, part in enumerate(readable) if isinstance(part, Expression)]
        self._pattern = re.compile(_pattern(readable))

    def expand(self, values: Mapping[str, Value]) -> str:
        """Return the URI for `values`. A missing name, an empty list and an empty mapping count as undefined.

        Raises:
            ValueError: a prefix modifier is applied to a list or a mapping.
        """
        return "".join(part if isinstance(part, str) else _expand(part, values) for part in self._parts)

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the decoded values that are present; None if the URI does not match.

        The items of an exploded variable are joined by the operator's separator, or by commas if named.

        Raises:
            UnsafeVariable: the URI matches, but a value would leave its place in the path.
        """
        match = self._pattern.fullmatch(uri)
        if match is None:
            return None
        try:
            readings = [reading for index, part in self._expressions for reading in _read(part, match, index)]
        except _NoMatch:
            return None
        return {
            variable.name: _checked(expression, variable, items) for expression, variable, items in readings
        }


class _NoMatch(Exception):
    """The pattern matches, but a value is not UTF-8, has an unknown name, or exceeds its prefix length."""


def _parse(text: str) -> Iterator[Part]:
    names: set[str] = set()
    for token in re.finditer(TOKEN, text):
        if not token[0].startswith("{"):
            yield _parse_literal(text, token.start(), token.end())
        elif token[0].endswith("}"):
            yield _parse_expression(text, token.start(), token.end() - 1, names)
        else:
            raise InvalidTemplate(text, "unclosed expression", token.start())


def _parse_literal(text: str, start: int, end: int) -> str:
    bad = re.search(BAD_LITERAL, text[start:end])
    if bad:
        reason = f"character not allowed outside an expression: {bad[0]!r}"
        raise InvalidTemplate(text, reason, start + bad.start())
    return percent_encode(text[start:end], safe=RESERVED + "%")


def _parse_expression(text: str, start: int, end: int, names: set[str]) -> Expression:
    symbol = text[start + 1] if text[start + 1] in OPERATORS else ""
    position = start + 1 + len(symbol)
    variables = []
    for item in text[position:end].split(","):
        spec = re.match(VARIABLE, item)
        if spec is None:
            raise InvalidTemplate(text, f"malformed variable: {item!r}", position)
        if spec["name"] in names:
            raise InvalidTemplate(text, f"repeated variable: {spec['name']}", position)
        names.add(spec["name"])
        prefix = int(spec["prefix"]) if spec["prefix"] else None
        variables.append(Variable(spec["name"], bool(spec["explode"]), prefix))
        position += len(item) + 1
    return Expression(symbol, tuple(variables))


def _expand(expression: Expression, values: Mapping[str, Value]) -> str:
    operator = expression.operator
    pieces: list[str] = []
    for variable in expression.variables:
        if variable.name in values:
            pieces += _pieces(operator, variable, values[variable.name])
    return operator.first + operator.separator.join(pieces) if pieces else ""


def _pieces(operator: Operator, variable: Variable, value: Value) -> list[str]:
    """Expand one variable into the texts that the operator's separator joins; none if it is undefined."""
    name = variable.name if operator.named else ""
    if isinstance(value, str):
        return [_pair(operator, name, _encode(operator, value[: variable.prefix]))]
    if variable.prefix:
        raise ValueError(f"prefix modifier on a list or mapping: {variable.name}")
    if isinstance(value, Mapping):
        pairs = [(_encode(operator, key), _encode(operator, item)) for key, item in value.items()]
        if variable.explode:
            return [_pair(operator, key, item) if operator.named else f"{key}={item}" for key, item in pairs]
        items = [text for pair in pairs for text in pair]
    else:
        items = [_encode(operator, item) for item in value]
        if variable.explode:
            return [_pair(operator, name, item) for item in items]
    return [_pair(operator, name, ",".join(items))] if items else []


def _pair(operator: Operator, name: str, value: str) -> str:
    if not name:
        return value
    return f"{name}={value}" if value else name + operator.if_empty


def _encode(operator: Operator, value: str) -> str:
    if not operator.reserved:
        return percent_encode(value, safe="")
    # Reserved expansion keeps percent triplets (RFC 6570, 3.2.3); the split puts them at odd indices.
    pieces = re.split(TRIPLET, value)
    return "".join(
        piece if index % 2 else percent_encode(piece, safe=RESERVED) for index, piece in enumerate(pieces)
    )


def _merge_queries(parts: Sequence[Part]) -> list[Part]:
    """Join `{?a}{&b}` into one expression: their names come in any order, so they are matched together."""
    merged: list[Part] = []
    for part in parts:
        last = merged[-1] if merged else ""
        if isinstance(part, str) or isinstance(last, str) or last.symbol + part.symbol not in ("?&", "&&"):
            merged.append(part)
        else:
            merged[-1] = Expression(last.symbol, last.variables + part.variables)
    return merged


@dataclass(frozen=True, slots=True)
class Terminator:
    """What ends an expression; `first` is empty if the next variable follows immediately."""

    literal: str
    first: str
    pattern: str


def _pattern(parts: Sequence[Part]) -> str:
    """Compile from the right, because a variable that spans segments needs the pattern of the rest."""
    broad = [
        index for index, part in enumerate(parts) if isinstance(part, Expression) and part.spans_segments
    ]
    last_broad = broad[-1] if broad else len(parts)
    rest = ""
    for index in reversed(range(len(parts))):
        part = parts[index]
        if isinstance(part, str):
            rest = re.escape(part) + rest
            continue
        terminator = _terminator(parts, index)
        if index == last_broad:
            terminator = replace(terminator, pattern=re.sub(CAPTURE, "(?:", rest) + r"\Z")
        excluded = _restart(parts, last_broad, index) if index > last_broad else ""
        rest = _expression_pattern(part, index, terminator, excluded) + rest
    return rest


def _terminator(parts: Sequence[Part], index: int) -> Terminator:
    literal = next((part for part in parts[index + 1 : index + 2] if isinstance(part, str)), "")
    follower = next((part for part in parts[index + 1 :] if isinstance(part, Expression)), None)
    if follower is None:
        return Terminator(literal, literal[:1], re.escape(literal) + r"\Z")
    first = follower.operator.first
    ending = rf"(?:[{re.escape(first)}/?#]|\Z)" if first else ""
    return Terminator(literal, (literal + first)[:1], re.escape(literal) + ending)


def _restart(parts: Sequence[Part], broad: int, index: int) -> str:
    """Return the character that no value may contain in the segment where the broad variable ends.

    The rest is tried wherever the broad variable could end. If a later value could run past the next such
    place, each attempt would scan the same text again, and the time would be quadratic.
    """
    between = "".join(part for part in parts[broad:index] if isinstance(part, str))
    same_segment = not any(character in between for character in "/?#")
    return _terminator(parts, broad).first if same_segment else ""


def _expression_pattern(expression: Expression, index: int, terminator: Terminator, excluded: str) -> str:
    operator = expression.operator
    # `{/a}/edit` against `/edit`: the optional part must not consume what the literal needs.
    guard = (
        f"(?!{terminator.pattern})"
        if operator.first and terminator.literal.startswith(operator.first)
        else ""
    )
    if operator.first in ("?", "&", "#"):
        excluded = ""
    if operator.named:
        run = _run(_without(operator.admits, excluded), terminator)
        return f"(?P<e{index}>{guard}{re.escape(operator.first)}{run})?+"
    pattern = ""
    for number, variable in reversed(list(enumerate(expression.variables))):
        lead = operator.separator if number else operator.first
        run = _run(_without(_admitted(expression, variable), excluded), terminator)
        pattern = f"{re.escape(lead)}(?P<e{index}v{number}>{run}){pattern}"
        if lead:
            pattern = f"(?:{'' if number else guard}{pattern})?+"
    return pattern


def _admitted(expression: Expression, variable: Variable) -> str:
    operator = expression.operator
    if variable.explode:
        return operator.admits + operator.separator
    return _without(operator.admits, operator.separator if len(expression.variables) > 1 else "")


def _without(characters: str, excluded: str) -> str:
    return characters.replace(excluded, "") if excluded else characters


def _run(admits: str, terminator: Terminator) -> str:
    character = f"[{re.escape(admits)}]"
    if not terminator.first or terminator.first not in admits:
        return f"{character}++"
    return f"{character}(?:(?!{terminator.pattern}){character})*+"


def _read(expression: Expression, match: re.Match[str], index: int) -> Iterator[Reading]:
    items = (_named_items if expression.operator.named else _placed_items)(expression, match, index)
    for variable in expression.variables:
        if variable.name in items:
            yield expression, variable, [_decode(item, variable.prefix) for item in items[variable.name]]


def _placed_items(expression: Expression, match: re.Match[str], index: int) -> dict[str, list[str]]:
    items = {}
    for number, variable in enumerate(expression.variables):
        raw = match[f"e{index}v{number}"]
        if raw is not None:
            items[variable.name] = raw.split(expression.operator.separator) if variable.explode else [raw]
    return items


def _named_items(expression: Expression, match: re.Match[str], index: int) -> dict[str, list[str]]:
    raw = match[f"e{index}"]
    items: dict[str, list[str]] = {}
    explode = {variable.name: variable.explode for variable in expression.variables}
    for pair in raw[1:].split(expression.operator.separator) if raw else ():
        name, _, value = pair.partition("=")
        if name not in explode or (name in items and not explode[name]):
            raise _NoMatch
        items.setdefault(name, []).append(value)
    return items


def _decode(raw: str, prefix: int | None) -> str:
    # A literal such as `2` may have matched inside `%2F` and broken the triplet.
    if re.search(BROKEN_TRIPLET, raw):
        raise _NoMatch
    try:
        text = percent_decode(raw)
    except UnicodeDecodeError:
        raise _NoMatch from None
    if prefix and len(text) > prefix:
        raise _NoMatch
    return text


def _checked(expression: Expression, variable: Variable, items: Sequence[str]) -> str:
    operator = expression.operator
    value = ("," if operator.named else operator.separator).join(items)
    unsafe = any(item == "." or escapes_root(item) or re.search(operator.forbids, item) for item in items)
    if unsafe or re.search(CONTROL, value) or (expression.spans_segments and re.search(OUT_OF_PATH, value)):
        raise UnsafeVariable(variable.name)
    return value
