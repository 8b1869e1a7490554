"""Whether the files of a bundle agree: the summary with the run, the badges with the summary, and the metrics
with their signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from assay.certify import badge as badges
from assay.certify import metrics as metrics_file
from assay.certify import summary as summaries
from assay.certify.bundle import layout
from assay.certify.metrics import Source
from assay.certify.summary import BadSummary
from assay.certify.summary_form import Summary
from assay.lab.harness.run.run import is_current
from assay.signing import dsse
from assay.signing.dsse import Reason as Unsigned
from assay.signing.dsse import Role

from .facts import badge_facts, differences, summary_facts
from .refusal import BundleRefused, Refusal, RefusalReason, not_signed, refuse
from .stored_bundle import StoredBundle

# The summary and the files from which it is built.
SOURCES: Final = frozenset({layout.SUMMARY, layout.PROFILE, *summaries.MEDIA_TYPES})
BADGES: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    layout.BADGE: badges.badge,
    layout.SHIELDS: badges.shields,
}
# Without a signature that the verifier trusts, metrics count as self-reported.
UNTRUSTED: Final = frozenset(
    {Unsigned.MALFORMED, Unsigned.UNSIGNED, Unsigned.UNKNOWN_KEY, Unsigned.WRONG_ROLE}
)


def summary(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: the summary differs from the other files, or belongs to another bundle.
    """
    measured = {name for name in bundle.entries if summaries.is_measurement(name)}
    files = {
        name: bundle.content(name)
        for name in sorted(SOURCES & bundle.entries.keys() | measured | {layout.SUMMARY})
    }
    try:
        rebuilt = summaries.rebuild(files)
        stored = summaries.read(files[layout.SUMMARY])
    except BadSummary as error:
        raise refuse(RefusalReason.BAD_EVIDENCE, layout.SUMMARY, error) from error
    details = [*_mismatched(bundle, stored), *_differences(bundle, files[layout.SUMMARY], rebuilt)]
    if details:
        raise BundleRefused([Refusal(RefusalReason.WRONG_SUMMARY, layout.SUMMARY, text) for text in details])
    bundle.conclusion, counts = stored.conclusion, stored.summary
    note = f"{counts.passed} of {counts.scored} scored demands are met, {counts.not_measured} not measured"
    return f"{stored.conclusion}: {note} ({_compared(bundle, stored)})"


def stored_summary(bundle: StoredBundle) -> Summary:
    """
    Raises:
        BundleRefused: the summary is missing or invalid.
    """
    try:
        return summaries.read(bundle.content(layout.SUMMARY))
    except BadSummary as error:
        raise refuse(RefusalReason.BAD_EVIDENCE, layout.SUMMARY, error) from error


def _mismatched(bundle: StoredBundle, stored: Summary) -> Iterator[str]:
    """Where the summary and the manifest differ."""
    manifest = bundle.manifest
    pairs = {
        "server": (
            (stored.server.name, stored.server.version),
            (manifest.server.name, manifest.server.version),
        ),
        "artifact": (stored.server.artifact, manifest.artifact),
        "profile": (stored.profile, manifest.profile),
        "time": ((stored.generated_at, stored.expires_at), (manifest.created, manifest.expires)),
        "signer": (stored.attested.developer, bundle.signer),
    }
    return (f"its {name} differs from the manifest" for name, (left, right) in pairs.items() if left != right)


def _is_ours(bundle: StoredBundle) -> bool:
    """Whether this version wrote the bundle: then every byte must match, not only the facts."""
    return is_current(bundle.content(layout.RUN))


def _compared(bundle: StoredBundle, stored: Summary) -> str:
    other = f"facts compared, not the wording of version {stored.tool.version}"
    return "compared byte by byte" if _is_ours(bundle) else other


def _differences(bundle: StoredBundle, stored: bytes, rebuilt: bytes) -> Iterator[str]:
    """Where the summary differs from the files that it summarises."""
    if not _is_ours(bundle):
        facts, expected = (summary_facts(summaries.read(data)) for data in (stored, rebuilt))
        for name in differences(facts, expected):
            yield f"{name}: differs from the run and the evidence"
    elif rebuilt != stored:
        yield f"differs from the run and the evidence, from line {_first_difference(stored, rebuilt)} on"


def _first_difference(stored: bytes, rebuilt: bytes) -> int:
    pairs = zip(stored.split(b"\n"), rebuilt.split(b"\n"), strict=False)
    return next((number for number, (left, right) in enumerate(pairs, 1) if left != right), 1)


def badge(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: a badge differs from the summary.
    """
    stored, data = stored_summary(bundle), bundle.content(layout.SUMMARY)
    names = [name for name in BADGES if name in bundle.entries]
    wrong = [name for name in names if not _shows(name, bundle.content(name), data, _is_ours(bundle))]
    if wrong:
        raise BundleRefused(
            [Refusal(RefusalReason.WRONG_BADGE, name, "it differs from the summary") for name in wrong]
        )
    return f"{' and '.join(names)} match the summary ({_compared(bundle, stored)})" if names else "none"


def _shows(name: str, stored: bytes, summary: bytes, closely: bool) -> bool:
    rebuilt = BADGES[name](summary)
    if closely:
        return stored == rebuilt
    try:
        return not differences(badge_facts(name, stored), badge_facts(name, rebuilt))
    except ValueError:
        return False


def metrics(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: the metrics are invalid, or not signed by the harness that the summary names.
    """
    data = bundle.content(layout.METRICS) if layout.METRICS in bundle.entries else b""
    if stored_summary(bundle).attested.harness not in (None, metrics_file.signer_named(data)):
        raise refuse(
            RefusalReason.WRONG_SUMMARY, layout.SUMMARY, "it names a harness that did not sign the metrics"
        )
    if not data:
        return "none"
    try:
        metrics_file.read(data)
        signed = dsse.verify(data, bundle.trust, Role.HARNESS, metrics_file.PAYLOAD_TYPE)
    except metrics_file.BadMetrics as error:
        raise refuse(RefusalReason.BAD_EVIDENCE, layout.METRICS, error) from error
    except dsse.InvalidEnvelope as error:
        if error.reason not in UNTRUSTED or _claims_harness(bundle):
            raise not_signed(error, layout.METRICS) from error
        return f"self-reported: not signed by a trusted harness ({error.reason})"
    bundle.harness = signed.key_id
    return f"signed by the trusted harness {signed.key_id}"


def _claims_harness(bundle: StoredBundle) -> bool:
    """Whether the summary claims a harness. It is checked only if the verifier trusts any harness."""
    stored = stored_summary(bundle).metrics
    trusts_any = any(Role.HARNESS in roles for roles in bundle.trust.roles.values())
    return trusts_any and stored is not None and stored.source is not Source.SELF_REPORTED
