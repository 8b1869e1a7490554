"""Whether the pieces of evidence in a bundle say the same: who measured what."""

from __future__ import annotations

from typing import Final

from assay.signing import dsse
from assay.signing.dsse import Reason as Unsigned
from assay.signing.dsse import Role

from . import metrics as figures
from .refusal import Reason, not_signed, refused
from .verification_case import Case

METRICS: Final = "metrics.json"
# Nobody whom the verifier trusts has signed them: then they are the developer's own figures, and called so.
NOBODY: Final = frozenset({Unsigned.MALFORMED, Unsigned.UNSIGNED, Unsigned.UNKNOWN_KEY, Unsigned.WRONG_ROLE})


def metrics(case: Case) -> str:
    """
    Raises:
        Refused: they are none, or not what a trusted harness has signed under its name.
    """
    if METRICS not in case.entries:
        return "none given"
    data = case.content(METRICS)
    try:
        figures.read(data)
        signed = dsse.verify(data, case.trust, Role.HARNESS, figures.PAYLOAD_TYPE)
    except figures.BadMetrics as error:
        raise refused(Reason.BAD_EVIDENCE, METRICS, error) from error
    except dsse.Refused as error:
        if error.reason in NOBODY:
            return f"self-reported: no trusted harness has signed them ({error.reason})"
        raise not_signed(error, METRICS) from error
    own = " and of the bundle: self-attested" if signed.key_id == case.signer else ""
    return f"signed by {signed.key_id}, a trusted harness{own}"
