"""Tags of tools, resources and prompts: words by which authors and clients select them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from assay.model.error import RegistrationError

NAMESPACE: Final = "fastmcp"
"""The key of `_meta` that tags are published under, because clients look for them there."""


def read_tags(tags: Collection[str], owner: str) -> frozenset[str]:
    """
    Args:
        tags: What the author passed.
        owner: The component, for the error.

    Raises:
        RegistrationError: they are not a collection of words.
    """
    if isinstance(tags, str) or not all(isinstance(tag, str) and tag for tag in tags):
        raise RegistrationError(f'{owner}: tags are a set of words, not {tags!r:.60}: write tags={{"beta"}}')
    return frozenset(tags)


def with_tags(meta: dict[str, Any] | None, tags: frozenset[str], owner: str) -> dict[str, Any] | None:
    """The `_meta` of a definition with its tags.

    Raises:
        RegistrationError: their place in it is occupied.
    """
    if not tags:
        return meta
    other = (meta or {}).get(NAMESPACE, {})
    if not isinstance(other, dict):
        raise RegistrationError(f"{owner}: meta[{NAMESPACE!r}] must be an object: tags are added to it")
    return {**(meta or {}), NAMESPACE: {**other, "tags": sorted(tags)}}
