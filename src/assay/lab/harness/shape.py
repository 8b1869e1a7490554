"""Shapes of messages, judged by the official types (`mcp-types`) and not by ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from assay.revisions.revision import Revision

from .message import Message, Shape


@cache
def _official() -> ModuleType:
    # Half a second of pydantic: only for those who judge.
    from mcp_types import methods

    return methods


def result_problem(method: str, result: Any, revision: Revision) -> str | None:
    """How a result of that method breaks its schema; none when it fits or the method is unknown."""
    return _problem(lambda: _official().validate_server_result(method, revision.date, result))


def sent_problem(message: Message, revision: Revision) -> str | None:
    """The same for a request or notification of a server."""
    official = _official()
    parse = (
        official.parse_server_request
        if message.shape is Shape.REQUEST
        else official.parse_server_notification
    )
    return _problem(lambda: parse(message.method, revision.date, message.fields.get("params")))


def knows(message: Message, revision: Revision) -> bool:
    """Whether a server of that revision has such a request or notification."""
    official = _official()
    table = official.SERVER_REQUESTS if message.shape is Shape.REQUEST else official.SERVER_NOTIFICATIONS
    return (message.method, revision.date) in table


def _problem(validate: Callable[[], Any]) -> str | None:
    from pydantic import ValidationError

    try:
        validate()
    except KeyError:
        return None
    except ValidationError as error:
        return _told(error)
    return None


def _told(error: Any) -> str:
    """The first complaints, as `path: message`."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = (f"{'.'.join(map(str, one['loc'])) or 'message'}: {one['msg']}" for one in found[:3])
    more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
    return "; ".join(lines) + more
