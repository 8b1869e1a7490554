"""What clients show of themselves, and which authorization server gave it to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .journey import Journey, Stop
from .token_endpoint import credentials

REGISTRY: Final = "registry"
"""The room of a place that registers nobody."""


def client_of(stop: Stop) -> str:
    """Who asks, as the request says: in the header, or among its parameters; empty where it does not say."""
    shown = credentials(stop)
    return shown[0] if shown is not None else str(stop.said.get("client_id") or "")


def registered(journey: Journey, room: str) -> set[str]:
    """The client ids that an authorization server gave out."""
    answers = (
        stop.told for stop in journey.registrations if stop.spot.room == room and stop.call.status < 300
    )
    return {name for told in answers if isinstance(name := told.get("client_id"), str)}


def given(journey: Journey, room: str, *keys: str) -> set[str]:
    """Texts that an authorization server gave out, by their names in its answers."""
    stops = (stop for stop in (*journey.registrations, *journey.exchanges) if stop.spot.room == room)
    return {text for stop in stops for key in keys if (text := _text(stop, key))}


def _text(stop: Stop, key: str) -> str:
    found = stop.told.get(key) if stop.call.status < 300 else None
    return found if isinstance(found, str) else ""


def uses(journey: Journey, room: str) -> Iterator[Stop]:
    """The requests at an authorization server that say who asks."""
    stops = sorted((*journey.authorizations, *journey.exchanges), key=lambda stop: stop.n)
    return (stop for stop in stops if stop.spot.room == room)


def others(journey: Journey, room: str) -> list[str]:
    """The rooms of the other authorization servers."""
    return [spot.room for spot in journey.spots if spot.room != room]
