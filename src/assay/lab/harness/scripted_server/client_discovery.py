"""Find out which revisions a client speaks, and what it can do with each of them."""

from __future__ import annotations

import math
from collections.abc import Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening, Revision

from .ability import ALWAYS, BASIC, METHODS, PAGES, TIMEOUT, Ability
from .client import UNABLE, ClientExit, said_unable
from .probe import ADD, ECHO, FOLLOWED, MORE, SLOW, Probe, Probed, arguments_of

INITIALIZE, DISCOVER = "initialize", "server/discover"


class Spoken(Struct, frozen=True):
    """What the first probe of a revision shows."""

    reason: str
    """Why the client does not speak the revision; empty if it does, or if it never connected."""
    ability: Ability
    facts: Facts
    connected: bool
    exit: ClientExit


def spoken(probe: Probe, probed: Probed, revision: Revision) -> Spoken:
    trace, client_exit = probed.trace, probed.exit
    reason = ""
    if client_exit.status == UNABLE:
        reason = said_unable(client_exit)
    elif trace.client_connected:
        reason = _handshake(trace, revision) if _has_handshake(revision) else _per_request(trace, revision)
    info, capabilities = _introduction(trace)
    facts = Facts(revision.date, capabilities=capabilities, server=info)
    return Spoken(reason, basic_ability(probe, probed), facts, trace.client_connected, client_exit)


def basic_ability(probe: Probe, probed: Probed) -> Ability:
    trace, done = probed.trace, _done(probed.trace, probe)
    # Without any evidence nothing is concluded.
    follows = _followed(trace, probe) or not trace.client_connected
    return Ability(done=done, follows_steps=follows, lacking=_lacking(probed, BASIC | {PAGES}, done))


def full_ability(probe: Probe, probed: Probed, basic: Ability) -> Ability:
    """What the second probe adds. If the client does not connect there, each scenario shows what it cannot
    do."""
    trace = probed.trace
    if not trace.client_connected:
        return replace(basic, follows_steps=basic.follows_steps or probed.exit.status == UNABLE)
    _, capabilities = _introduction(trace)
    done = basic.done | _done(trace, probe)
    last = {"listen"} if trace.revision.opening is Opening.PER_REQUEST else {"change_roots"}
    return replace(
        basic,
        follows_steps=basic.follows_steps or _followed(trace, probe),
        done=done,
        lacking=basic.lacking - done | _lacking(probed, ALWAYS | last, done),
        declared=capabilities,
    )


def looks_for_authority(probed: Probed) -> bool | None:
    """Whether the client requested anything but the endpoint after status 401."""
    if probed.exit.status == UNABLE:
        return False
    calls = [call for call in probed.trace.calls if call.sent.method in ("GET", "POST")]
    if not calls:
        return None
    return any(_is_elsewhere(call.sent.target) for call in calls)


def _is_elsewhere(target: str) -> bool:
    return any(part in target for part in ("/.well-known/", "/authorize", "/register", "/token"))


def _lacking(probed: Probed, steps: Set[str], done: Set[str]) -> frozenset[str]:
    complete = probed.exit.status == 0 and probed.trace.client_connected
    return frozenset(steps - done) if complete else frozenset()


def _followed(trace: Trace, probe: Probe) -> bool:
    return any(arguments.get(FOLLOWED) == probe.token for arguments in arguments_of(trace, ECHO))


def _done(trace: Trace, probe: Probe) -> frozenset[str]:
    methods = {message.method for message in trace.received}
    done = {step for step, method in METHODS.items() if method in methods}
    if any(exchange.params.get("cursor") for exchange in trace.subject_exchanges("tools/list")):
        done.add(PAGES)
    numbers = [arguments for arguments in arguments_of(trace, ADD) if arguments == {"a": 5, "b": 3}]
    if numbers or _followed(trace, probe):
        done.add("call_tool")
    if len(arguments_of(trace, MORE)) > 1:
        done.add("together")
    if _gave_up(trace):
        done.add(TIMEOUT)
    return frozenset(done)


def _gave_up(trace: Trace) -> bool:
    """Whether the client continued before the slow tool answered."""
    for call in trace.subject_exchanges("tools/call"):
        if call.params.get("name") == SLOW:
            end = math.inf if call.answer is None else call.answer.frame.n
            return any(call.request.frame.n < message.frame.n < end for message in trace.received)
    return False


def _has_handshake(revision: Revision) -> bool:
    return revision.opening is Opening.HANDSHAKE


def _handshake(trace: Trace, revision: Revision) -> str:
    openings = list(trace.subject_exchanges(INITIALIZE))
    if not openings:
        return "it does not open with initialize"
    offers = [opening.params.get("protocolVersion") for opening in openings]
    fitting = [offer for offer in offers if not _is_before(offer, revision)]
    if not fitting:
        return f"it offers {offers[-1]}, and no later one"
    end = max(opening.request.frame.n for opening in openings)
    continued = any(message.frame.n > end for message in trace.received)
    # A client that offers this very revision and then leaves has a fault, which a scenario shows.
    if continued or revision.date in fitting:
        return ""
    return f"it offers {fitting[-1]}, and leaves when the server answers {revision.date}"


def _is_before(offer: object, revision: Revision) -> bool:
    dates = list(BY_DATE)
    return isinstance(offer, str) and offer in dates and dates.index(offer) < dates.index(revision.date)


def _per_request(trace: Trace, revision: Revision) -> str:
    if any(message.meta.get(VERSION_KEY) == revision.date for message in trace.received):
        return ""
    if any(trace.subject_exchanges(DISCOVER)):
        return ""
    opening = next(iter(trace.subject_exchanges(INITIALIZE)), None)
    if opening is None:
        return f"no request names {revision.date}"
    return f"it opens with initialize, and offers {opening.params.get('protocolVersion')}"


def _introduction(trace: Trace) -> tuple[dict[str, Any], dict[str, Any]]:
    """The client's name and its capabilities: those of the handshake, if there is one."""
    handshake = next(trace.subject_exchanges(INITIALIZE), None)
    if handshake is not None and trace.revision.opening is Opening.HANDSHAKE:
        return _object(handshake.params.get("clientInfo")), _object(handshake.params.get("capabilities"))
    for message in trace.received:
        if CAPABILITIES_KEY in message.meta or CLIENT_KEY in message.meta:
            return _object(message.meta.get(CLIENT_KEY)), _object(message.meta.get(CAPABILITIES_KEY))
    return {}, {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
