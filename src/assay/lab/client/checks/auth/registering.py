"""A registration says what the client is, and where answers to it go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.harness.check import check
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

TYPE, REDIRECTS = "AU-45", "AU-86"


@check("A registration says enough", rows=(TYPE, REDIRECTS), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.registrations:
        said = stop.said.get("application_type")
        expected = "an application_type, native or web"
        yield observe(TYPE, said in ("native", "web"), stop, expected=expected, observed=repr(said))
    for stop in journey.authorizations:
        for made in _made(journey, stop):
            used, known = stop.said.get("redirect_uri"), made.said.get("redirect_uris")
            uris = known if isinstance(known, list) else []
            # With a single one registered, there is no need to name it.
            holds = any(_same(one, used) for one in uris) or (used is None and len(uris) == 1)
            yield observe(REDIRECTS, holds, made, stop, expected=f"one of {known}", observed=used)


def _made(journey: Journey, stop: Stop) -> list[Stop]:
    """The registration under which a client asks."""
    name = stop.said.get("client_id")
    made = [one for one in journey.registrations if name is not None and one.told.get("client_id") == name]
    return made[:1]


def _same(registered: Any, used: Any) -> bool:
    """On this machine a port may be chosen for each request (RFC 8252, 7.3)."""
    if not isinstance(registered, str) or not isinstance(used, str):
        return False
    try:
        one, other = urlsplit(registered), urlsplit(used)
    except ValueError:
        return False
    loopback = is_local(one.netloc) and one.hostname == other.hostname
    return registered == used or (loopback and one._replace(netloc="") == other._replace(netloc=""))
