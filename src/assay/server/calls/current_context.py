"""The context of the current call, for functions that were not passed one. Importing this module starts the
tracking of calls."""

from __future__ import annotations

from .context import Context
from .current_call import CURRENT, TRACKING

TRACKING.start()


def current_context() -> Context:
    """The context of the call that is being served, for a helper that was not passed one:

        def audit(text: str) -> None:
            log.info("%s: %s", current_context().principal, text)

    It works in handlers, dependencies and middleware, in what these call, and in tasks and threads that they
    start with `asyncio`. Import it at the top of a module: calls that began before the first import are not
    tracked.

    Raises:
        RuntimeError: this is outside of a call, or the call has ended.
    """
    current = CURRENT.get(None)
    if current is None:
        raise RuntimeError(
            "no call is being served here: use current_context() in handlers and what they call, and import"
            " it at the top of the module, because calls are only tracked from then on"
        )
    if current.call is None:
        raise RuntimeError("the call has ended: read what you need from its context before that")
    return Context(current.call, current.loop)
