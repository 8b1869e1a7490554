"""The handshake: an offer that names the client and a version, and word that it is done."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE

ROW = "mcp-client-initialization"
DONE = "notifications/initialized"


@official_check("initialize", "The client initializes", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from with_owed(trace, _seen(trace), {ROW: "a request initialize"})


def _seen(trace: Trace) -> Iterator[Observation]:
    for offer in trace.inquiries("initialize"):
        wrong = _wrong(offer, trace)
        yield observe(
            ROW,
            not wrong,
            offer,
            expected="a name and a version of the client, its capabilities, a revision not older than the one"
            f" asked for, then {DONE}",
            observed="; ".join(wrong) or "all of it",
        )


def _wrong(offer: Exchange, trace: Trace) -> list[str]:
    params = offer.params
    found = []
    version = params.get("protocolVersion")
    # The one asked for or a later one: the host then answers with the one asked for.
    if not isinstance(version, str) or version not in BY_DATE or version < trace.revision.date:
        found.append(f"protocolVersion {version!r}")
    about = params.get("clientInfo")
    about = about if isinstance(about, dict) else {}
    for key in ("name", "version"):
        if not isinstance(about.get(key), str) or not about[key]:
            found.append(f"clientInfo.{key} {about.get(key)!r}")
    if not isinstance(params.get("capabilities"), dict):
        found.append(f"capabilities {params.get('capabilities')!r}")
    if offer.result is not None and not _concluded(offer, trace):
        found.append(f"no {DONE} after the answer")
    return found


def _concluded(offer: Exchange, trace: Trace) -> bool:
    assert offer.answer is not None
    since = offer.answer.frame.n
    return any(one.method == DONE and one.frame.n > since for one in trace.received)
