"""Requests for authorization and for tokens say which server the token is for."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.client.authorization.token_endpoint import is_absolute
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

SENT, CANONICAL, ALWAYS, FORM = "AU-56", "AU-57", "AU-58", "AU-59"


@check("`resource` names the server", rows=(SENT, CANONICAL, ALWAYS, FORM), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    by_code = [one for one in journey.exchanges if one.said.get("grant_type") == "authorization_code"]
    for stop in (*journey.authorizations, *by_code):
        named = stop.said.get("resource")
        yield observe(SENT, bool(named), stop, expected="a `resource`", observed="none")
        # Nothing in the metadata of the server says that it knows the parameter.
        expected = "a `resource`, whatever the server supports"
        yield observe(ALWAYS, bool(named), stop, expected=expected, observed="none")
        if named:
            yield from _named(str(named), stop)


def _named(named: str, stop: Stop) -> Iterator[Observation]:
    url = stop.spot.url
    expected = f"a URI of {url}, with a scheme and without a fragment"
    yield observe(CANONICAL, is_of(named, url), stop, expected=expected, observed=named)
    slash = named.endswith("/") and not stop.spot.resource.endswith("/")
    yield observe(FORM, not slash, stop, expected="no slash at the end", observed=named)


def is_of(named: str, url: str) -> bool:
    """Whether a URI is that of the endpoint, or of all below a path that it is in."""
    if not is_absolute(named) or "#" in named:
        return False
    one, other = urlsplit(named), urlsplit(url)
    same = (one.scheme.lower(), one.netloc.lower()) == (other.scheme, other.netloc)
    return same and f"{other.path}/".startswith(f"{one.path.rstrip('/')}/")
