"""Compare the capability manifests in a bundle with its run."""

from __future__ import annotations

from assay.certify.bundle.capability_files import capability_files
from assay.certify.bundle.layout import CAPABILITIES, RUN
from assay.lab.harness.run.run import is_current
from assay.lab.harness.trace.file import BadTrace

from .refusal import BundleRefused, Refusal, RefusalReason
from .stored_bundle import StoredBundle
from .stored_run import stored_run


def lists(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: a manifest differs from what the server published or listed.
    """
    names = sorted(name for name in bundle.entries if name.startswith(CAPABILITIES))
    if not names:
        return "none"
    run = stored_run(bundle)
    if not is_current(bundle.content(RUN)):
        return f"not compared: written by version {run.assay}"
    try:
        expected = capability_files(run, bundle.content)
    except BadTrace as error:
        raise BundleRefused([Refusal(RefusalReason.BROKEN_TRACE, error.place, error.problem)]) from error
    wrong = [name for name in names if bundle.content(name) != expected.get(name)]
    if wrong:
        detail = "differs from what the server published or listed in the run"
        raise BundleRefused([Refusal(RefusalReason.WRONG_LIST, name, detail) for name in wrong])
    return f"{', '.join(names)} match the run"
