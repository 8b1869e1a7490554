"""The capability manifests in a bundle, held against its run."""

from __future__ import annotations

from assay.certify.bundle.capability_files import capability_files
from assay.certify.bundle.layout import CAPABILITIES
from assay.lab.harness.trace.file import BadTrace
from assay.model.version import VERSION

from .case import Case
from .refusal import Reason, Refusal, Refused
from .stored_run import stored_run


def lists(case: Case) -> str:
    """
    Raises:
        Refused: one of them is not what the server published, or listed.
    """
    there = sorted(name for name in case.entries if name.startswith(CAPABILITIES))
    if not there:
        return "none"
    run = stored_run(case)
    if run.assay != VERSION:
        return f"not compared: written by version {run.assay}"
    try:
        shown = capability_files(run, case.content)
    except BadTrace as error:
        raise Refused([Refusal(Reason.BROKEN_TRACE, error.place, error.problem)]) from error
    wrong = [name for name in there if case.content(name) != shown.get(name)]
    if wrong:
        detail = "not what the server was seen to tell"
        raise Refused([Refusal(Reason.WRONG_LIST, name, detail) for name in wrong])
    return f"{', '.join(there)} as the run shows them"
