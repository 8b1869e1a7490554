"""Evidence about servers that anyone can verify: `certify` creates a bundle, `verify` checks one.

The public names below are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from assay.certify.verification.procedure import VerificationReport as VerificationReport
    from assay.certify.verification.verifier import verify as verify

    from .certification import Bundle as Bundle
    from .certification import certify as certify
    from .certification import follow_certification as follow_certification
    from .conclusion import Conclusion as Conclusion
    from .options import CertifyOptions as CertifyOptions
    from .options import VerifyOptions as VerifyOptions

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".certification": "Bundle certify follow_certification",
        ".options": "CertifyOptions VerifyOptions",
        ".conclusion": "Conclusion",
        ".verification.procedure": "VerificationReport",
        ".verification.verifier": "verify",
    },
)
