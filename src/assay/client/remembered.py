"""What is known of endpoints from earlier in this process, so that the next client need not probe."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from assay.revisions.revision import Revision

MOST: Final = 256
_revisions: OrderedDict[str, Revision] = OrderedDict()
_older: OrderedDict[str, None] = OrderedDict()
"""Endpoints that need an older transport."""
_lock: Final = Lock()  # clients may run in several threads, each with an event loop


def recall(endpoint: str) -> Revision | None:
    with _lock:
        return _revisions.get(endpoint)


def remember(endpoint: str, revision: Revision) -> None:
    if not endpoint:
        return
    with _lock:
        _revisions[endpoint] = revision
        _revisions.move_to_end(endpoint)
        if len(_revisions) > MOST:
            _revisions.popitem(last=False)


def forget(endpoint: str) -> None:
    with _lock:
        _revisions.pop(endpoint, None)
        _older.pop(endpoint, None)


def needs_older(endpoint: str) -> bool:
    with _lock:
        return endpoint in _older


def remember_older(endpoint: str) -> None:
    with _lock:
        _older[endpoint] = None
        if len(_older) > MOST:
            _older.popitem(last=False)
