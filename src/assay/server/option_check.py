"""Arguments of `Server` that have the wrong type, refused where the author wrote them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from assay.model.content import Icon
from assay.model.error import RegistrationError
from assay.model.limits import Limits
from assay.model.result import Cache
from assay.model.strictness import Strictness

EXPECTED: Final[dict[str, tuple[type, str]]] = {
    "name": (str, 'Server("weather")'),
    "version": (str, 'Server("weather", "1.0.0")'),
    "title": (str, 'title="Weather"'),
    "description": (str, 'description="Forecasts for any place"'),
    "instructions": (str, 'instructions="Ask for one place at a time"'),
    "website_url": (str, 'website_url="https://example.com"'),
    "limits": (Limits, "limits=Limits(concurrency=16)"),
    "cache": (Cache, "cache=Cache(60_000)"),
    "strictness": (Strictness, "strictness=Strictness(...)"),
    "page_size": (int, "page_size=100"),
    "access": (Callable, "access=may_read, a function of the URI and the scope"),  # type: ignore[dict-item]
    "debug": (bool, "debug=True"),
}
"""The type of each argument that may be checked so, and an example."""


def check_options(options: dict[str, Any], icons: Any) -> None:
    """
    Raises:
        RegistrationError: an argument has the wrong type.
    """
    for name, (expected, example) in EXPECTED.items():
        value = options[name]
        if value is not None and not isinstance(value, expected):
            raise RegistrationError(f"{name} is {_shown(value)}, not a {expected.__name__}: write {example}")
    if _is_prose(options["version"]):
        raise RegistrationError(
            f"version is {options['version']!r:.40}, which is no version: write"
            ' Server("weather", instructions="...") for instructions'
        )
    if icons is not None and not all(isinstance(icon, Icon) for icon in icons):
        raise RegistrationError(
            'icons must be Icon objects: write icons=[Icon("https://example.com/icon.png")]'
        )


def _is_prose(version: str) -> bool:
    """Whether it is a sentence: other libraries take instructions as the second argument."""
    first, _, rest = version.strip().partition(" ")
    return bool(rest) and not any(character.isdigit() for character in first)


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.40}"
