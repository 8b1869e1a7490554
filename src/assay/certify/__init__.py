"""Evidence about servers that anyone can verify: `certify` creates a bundle, `verify` checks one.

The public names below are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.certify.verification.procedure import VerificationReport as VerificationReport
    from assay.certify.verification.verifier import verify as verify

    from .certification import Bundle as Bundle
    from .certification import certify as certify
    from .certification import follow_certification as follow_certification
    from .options import CertifyOptions as CertifyOptions
    from .options import VerifyOptions as VerifyOptions
    from .scoring import Conclusion as Conclusion

_HOMES = {
    "certification": ("Bundle", "certify", "follow_certification"),
    "options": ("CertifyOptions", "VerifyOptions"),
    "scoring": ("Conclusion",),
    "verification.procedure": ("VerificationReport",),
    "verification.verifier": ("verify",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604 - computed from the table above
    *_HOME_OF
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
