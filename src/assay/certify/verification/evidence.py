"""Whether the pieces of evidence in a bundle say the same: the summary what the run shows, the badge what the
summary says, and the metrics by whom they were measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from assay.certify import badge as badges
from assay.certify import metrics as figures
from assay.certify import summary as summaries
from assay.certify.bundle import layout
from assay.certify.metrics import Source
from assay.certify.summary import BadSummary
from assay.certify.summary_form import Summary
from assay.lab.harness.run.run import is_current
from assay.signing import dsse
from assay.signing.dsse import Reason as Unsigned
from assay.signing.dsse import Role

from .case import Case
from .facts import differences, of_badge, of_summary
from .refusal import Reason, Refusal, Refused, not_signed, refused

# What the summary, or what it is made of, is read from.
SOURCES: Final = frozenset({layout.SUMMARY, layout.PROFILE, *summaries.MEDIA_TYPES})
BADGES: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    layout.BADGE: badges.badge,
    layout.SHIELDS: badges.shields,
}
# Nobody whom the verifier trusts has signed them: then they are the developer's own figures, and called so.
NOBODY: Final = frozenset({Unsigned.MALFORMED, Unsigned.UNSIGNED, Unsigned.UNKNOWN_KEY, Unsigned.WRONG_ROLE})


def summary(case: Case) -> str:
    """
    Raises:
        Refused: it is not what the files of the bundle come to, or is about another bundle.
    """
    files = {name: case.content(name) for name in sorted(SOURCES & case.entries.keys() | {layout.SUMMARY})}
    try:
        made = summaries.again(files)
        stored = summaries.read(files[layout.SUMMARY])
    except BadSummary as error:
        raise refused(Reason.BAD_EVIDENCE, layout.SUMMARY, error) from error
    strange = [*_strange(case, stored), *_unlike(case, files[layout.SUMMARY], made)]
    if strange:
        raise Refused([Refusal(Reason.WRONG_SUMMARY, layout.SUMMARY, one) for one in strange])
    case.conclusion, counts = stored.conclusion, stored.summary
    told = f"{counts.passed} of {counts.scored} scored demands are met, {counts.not_measured} not measured"
    return f"{stored.conclusion}: {told} ({_compared(case, stored)})"


def stored_summary(case: Case) -> Summary:
    """
    Raises:
        Refused: there is none.
    """
    try:
        return summaries.read(case.content(layout.SUMMARY))
    except BadSummary as error:
        raise refused(Reason.BAD_EVIDENCE, layout.SUMMARY, error) from error


def _strange(case: Case, stored: Summary) -> Iterator[str]:
    """Where the summary and the manifest part."""
    listed = case.listed
    pairs = {
        "server": ((stored.server.name, stored.server.version), (listed.server.name, listed.server.version)),
        "artifact": (stored.server.artifact, listed.artifact),
        "profile": (stored.profile, listed.profile),
        "time": ((stored.generated_at, stored.expires_at), (listed.created, listed.expires)),
        "signer": (stored.attested.developer, case.signer),
    }
    return (f"another {name} than the manifest's" for name, (one, other) in pairs.items() if one != other)


def _is_ours(case: Case) -> bool:
    """Then each byte counts. Another version may have had other words for the same."""
    return is_current(case.content(layout.RUN))


def _compared(case: Case, stored: Summary) -> str:
    other = f"the facts compared and not the words, which are by version {stored.tool.version}"
    return "compared byte by byte" if _is_ours(case) else other


def _unlike(case: Case, stored: bytes, made: bytes) -> Iterator[str]:
    """Where the summary and what it is made of part."""
    told = summaries.read(stored)
    if not _is_ours(case):
        for name in differences(of_summary(told), of_summary(summaries.read(made))):
            yield f"{name}: not what the run and the evidence come to"
    elif made != stored:
        line = _first_difference(stored, made)
        yield f"not what the run and the evidence come to, from line {line} on"


def _first_difference(stored: bytes, made: bytes) -> int:
    pairs = zip(stored.split(b"\n"), made.split(b"\n"), strict=False)
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 1)


def badge(case: Case) -> str:
    """
    Raises:
        Refused: one of them is not what the summary gives.
    """
    stored, data = stored_summary(case), case.content(layout.SUMMARY)
    there = [name for name in BADGES if name in case.entries]
    wrong = [name for name in there if not _shows(name, case.content(name), data, _is_ours(case))]
    if wrong:
        raise Refused([Refusal(Reason.WRONG_BADGE, name, "it does not show the summary") for name in wrong])
    return f"{' and '.join(there)} as the summary gives them ({_compared(case, stored)})" if there else "none"


def _shows(name: str, stored: bytes, summary: bytes, closely: bool) -> bool:
    made = BADGES[name](summary)
    if closely:
        return stored == made
    try:
        return not differences(of_badge(name, stored), of_badge(name, made))
    except ValueError:
        return False


def metrics(case: Case) -> str:
    """
    Raises:
        Refused: they are none, or not what a harness has signed that they are said to be of.
    """
    data = case.content(layout.METRICS) if layout.METRICS in case.entries else b""
    if stored_summary(case).attested.harness not in (None, figures.signer_named(data)):
        raise refused(Reason.WRONG_SUMMARY, layout.SUMMARY, "it names a harness that has signed nothing")
    if not data:
        return "none given"
    try:
        figures.read(data)
        signed = dsse.verify(data, case.trust, Role.HARNESS, figures.PAYLOAD_TYPE)
    except figures.BadMetrics as error:
        raise refused(Reason.BAD_EVIDENCE, layout.METRICS, error) from error
    except dsse.InvalidEnvelope as error:
        if error.reason not in NOBODY or _is_pretended(case):
            raise not_signed(error, layout.METRICS) from error
        return f"self-reported: no trusted harness has signed them ({error.reason})"
    case.harness = signed.key_id
    return f"signed by {signed.key_id}, a trusted harness"


def _is_pretended(case: Case) -> bool:
    """Said to be a harness's, where the verifier knows whom to believe. Who pins no harness believes none."""
    stored = stored_summary(case).metrics
    knows = any(Role.HARNESS in roles for roles in case.trust.roles.values())
    return knows and stored is not None and stored.source is Source.HARNESS
