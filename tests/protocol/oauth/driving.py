"""Runs a flow against a table of answers, without a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from assay.protocol.oauth.effect import (
    Effect,
    Environment,
    Flow,
    HttpRequest,
    HttpResponse,
    Listen,
    Save,
    Supply,
    Visit,
)

T = TypeVar("T")
NOW = 1_800_000_000.0
REDIRECT = "http://127.0.0.1:1234/callback"


class Signer:
    algorithm = "ES256"

    @property
    def public_jwk(self) -> dict[str, str]:
        return {"kty": "EC"}

    def sign(self, header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
        return msgspec.json.encode([header, claims]).decode()


def environment() -> Environment:
    numbers = iter(range(10**6))
    return Environment(lambda: NOW, lambda: f"random-{next(numbers)}")


class Answers:
    """Answers by URL: a JSON document, a status, or a whole response; anything else is not found."""

    def __init__(self, answers: Mapping[str, Any], redirect: str = "") -> None:
        self._answers = answers
        self._redirect = redirect
        self.effects: list[Effect] = []

    def run(self, flow: Flow[T]) -> T:
        try:
            effect = next(flow)
            while True:
                self.effects.append(effect)
                effect = flow.send(self._answer(effect))
        except StopIteration as finished:
            outcome: T = finished.value
            return outcome

    def _answer(self, effect: Effect) -> Any:
        match effect:
            case HttpRequest():
                return self._response(effect)
            case Listen():
                return REDIRECT
            case Visit():
                return self._redirect.replace("{state}", effect.state)
            case Supply():
                return f"supplied {effect.name}"
            case Save():
                return None

    def _response(self, request: HttpRequest) -> HttpResponse:
        answer = self._answers.get(request.url, 404)
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, HttpResponse):
            return answer
        if isinstance(answer, int):
            return HttpResponse(answer, {})
        return HttpResponse(200, {}, msgspec.json.encode(answer))

    @property
    def requests(self) -> list[HttpRequest]:
        return [effect for effect in self.effects if isinstance(effect, HttpRequest)]

    @property
    def urls(self) -> list[str]:
        return [request.url for request in self.requests]
