"""Does what a flow yields, and sends back the results."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from assay.model.client_error import AuthorizationFailed
from assay.protocol.oauth.effect import Effect, Flow, HttpRequest, Listen, Save, Supply, Visit
from assay.protocol.oauth.record import Record

from .http_client import HttpClient
from .plan import Plan

T = TypeVar("T")


class FlowDriver:
    def __init__(self, plan: Plan, http: HttpClient, save: Callable[[Record], Awaitable[None]]) -> None:
        self._plan = plan
        self._http = http
        self._save = save
        self._visitor = None if plan.make_visitor is None else plan.make_visitor(http)

    async def run(self, flow: Flow[T]) -> T:
        """
        Raises:
            AuthorizationFailed: the flow failed, or one of its steps.
        """
        try:
            effect = next(flow)
            while True:
                effect = flow.send(await self._perform(effect))
        except StopIteration as finished:
            outcome: T = finished.value
            return outcome
        finally:
            flow.close()
            if self._visitor is not None:
                await self._visitor.close()

    async def _perform(self, effect: Effect) -> Any:
        match effect:
            case HttpRequest():
                return await self._http.send(effect)
            case Supply():
                return await self._supply(effect.name)
            case Save():
                return await self._save(effect.record)
        if self._visitor is None:
            raise AuthorizationFailed("this authorization works without a user")
        if isinstance(effect, Listen):
            return await self._visitor.listen(effect.preferred)
        assert isinstance(effect, Visit)
        return await self._visitor.visit(effect)

    async def _supply(self, name: str) -> str:
        source = self._plan.suppliers[name]
        outcome = source() if callable(source) else source
        text = await outcome if inspect.isawaitable(outcome) else outcome
        if not isinstance(text, str) or not text:
            raise AuthorizationFailed(f"the function for the {name} returned no text")
        return text
