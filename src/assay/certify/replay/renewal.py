"""Values that a server generates and a client repeats, such as cursors: those of the recording are replaced
by those of the server that is being asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from json import dumps, loads
from typing import Any, Final

from assay.lab.harness.golden.json_place import Span, is_json, places
from assay.lab.harness.golden.normaliser import VALUES, Method
from assay.lab.harness.trace.message import Message

_NAMED: Final = [(rule.name, steps) for rule in VALUES if rule.method is Method.NAME for steps in rule.steps]


class Renewal:
    def __init__(self) -> None:
        self._values: dict[str, dict[str, Any]] = defaultdict(dict)

    def learn(self, recorded: Message, current: Message) -> None:
        """Pair the values of two answers by their place."""
        old, new = _text(recorded.body), _text(current.body)
        for rule, steps in _NAMED if old and new else ():
            if steps[-1] in old:
                pairs = zip(places(old, steps), places(new, steps), strict=False)
                for before, after in pairs:
                    self._values[rule][_slice(old, before)] = loads(_slice(new, after))

    def renewed(self, params: Any) -> Any:
        """The parameters of a request with the values that the server has sent this time."""
        text = dumps({"params": params})
        return loads("".join(self._replaced(text)))["params"] if self._values else params

    def _replaced(self, text: str) -> Iterator[str]:
        at = 0
        for span, value in sorted(self._matches(text), key=lambda match: match[0].start):
            if span.start >= at:
                yield text[at : span.start]
                yield dumps(value)
                at = span.end
        yield text[at:]

    def _matches(self, text: str) -> Iterator[tuple[Span, Any]]:
        for rule, steps in _NAMED:
            known = self._values.get(rule)
            for span in places(text, steps) if known else ():
                if known and (old := _slice(text, span)) in known:
                    yield span, known[old]


def _text(body: bytes) -> str:
    """The body if it is JSON, else nothing."""
    text = body.decode("utf-8", "replace")
    return text if is_json(text) else ""


def _slice(text: str, span: Span) -> str:
    return dumps(loads(text[span.start : span.end]))
