"""What a summary and its badges say, without their words.

A later version may word a reason, a title or a badge otherwise: an honest bundle of an older one stays good.
ServerMetrics, statuses, places, dates and digests are the same in every version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from assay.certify.bundle import layout
from assay.certify.scoring import Score
from assay.certify.summary_form import Summary

Facts = dict[str, object]
BADGE: Final = (
    "server", "version", "generatedAt", "expiresAt", "conclusion", "passed", "scored", "notMeasured",
    "profile", "protocolVersions", "metricsSource", "summarySha256", "attestation", "selfAttested",
)  # fmt: skip
ADDED: Final = ("platform", "scope", "streams", "categories")
"""With versions 2 and 3 of the summary."""


def summary_facts(summary: Summary) -> Facts:
    """The parts of the document, and the demands by id."""
    return {
        "server": summary.server,
        "profile": summary.profile,
        "version of Assay": summary.tool,
        "run": summary.run,
        "time": (summary.generated_at, summary.expires_at),
        "signers": summary.attested,
        "conclusion": summary.conclusion,
        "counts": summary.summary,
        "categories": summary.categories,
        "latency": summary.latency,
        "metrics": summary.metrics,
        "replay": summary.replay,
        "sandbox": summary.sandbox,
        "vulnerabilities": summary.vulnerabilities,
        "scope": summary.scope,
        "measurements": summary.measurements,
        "digests": sorted((file.name, file.sha256) for file in summary.evidence),
        "order of demands": [score.id for score in summary.checks],
        **{score.id: _score_facts(score) for score in summary.checks},
    }


def _score_facts(score: Score) -> tuple[object, ...]:
    results = [
        (result.scenario, result.transport, result.protocol_version, result.status)
        for result in score.results
    ]
    findings = [
        (finding.scenario, finding.transport, finding.protocol_version, *finding.frames)
        for finding in score.findings
    ]
    fixed = score.status, score.pass_, score.measure, score.scored, score.core
    return *fixed, sorted(results), sorted(findings)


def badge_facts(name: str, data: bytes) -> Facts:
    """
    Raises:
        ValueError: the data is not a badge of that name.
    """
    try:
        document: dict[str, Any] = json.loads(data)
        facts = _shield_facts(document) if name == layout.SHIELDS else _badge_facts(document)
        # Compared as JSON, because 1 == True in Python.
        return {fact: json.dumps(value, sort_keys=True) for fact, value in facts.items()}
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a badge: {error!r}") from error


def _shield_facts(document: Mapping[str, Any]) -> Facts:
    """The colour, and the figures in the message."""
    return {"color": document["color"], "figures": re.findall(r"[0-9]+", document["message"])}


def _badge_facts(document: Mapping[str, Any]) -> Facts:
    """The states of the checks by name, because versions may show different checks."""
    checks = {f"checks.{name}": state for name, state in document["checks"].items()}
    latency = {f"latency.{name}": figure for name, figure in document["latency"].items()}
    added = {name: document[name] for name in ADDED if name in document}
    return {name: document[name] for name in BADGE} | added | checks | latency


def differences(stored: Facts, rebuilt: Facts) -> list[str]:
    """The names of stored facts that differ. Today's version may add facts."""
    return sorted(name for name, fact in stored.items() if name not in rebuilt or rebuilt[name] != fact)
