"""What the verification of a bundle came to."""

from __future__ import annotations

import json

import msgspec

from assay.certify.verification.procedure import VerificationReport
from assay.model.visible import visible


def as_text(report: VerificationReport) -> str:
    lines = [f"{step.name:<14}{step.status:<12}{step.note}".rstrip() for step in report.steps]
    lines += [f"refused: {refusal.reason}: {refusal.where}: {refusal.detail}" for refusal in report.refusals]
    manifest = report.manifest
    if report.ok and manifest is not None:
        about = f"{manifest.server.name} {manifest.server.version}, {manifest.profile.id}"
        attested = "self-attested" if report.self_attested else "metrics of a trusted harness"
        outcome = next(step.note for step in report.steps if step.name == "summary")
        lines.append(f"verified: {about}: {outcome}; {attested}")
    return "".join(f"{visible(line)}\n" for line in lines)


def as_json(report: VerificationReport) -> str:
    value = {"verified": report.ok, **msgspec.to_builtins(report)}
    if report.manifest is not None:
        del value["manifest"]["files"]  # they are in the bundle, and their number in the steps
    return json.dumps(value, indent=2) + "\n"  # ASCII: nothing in it moves the cursor
