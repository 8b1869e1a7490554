"""Needs of a scenario. An unmet need makes the scenario *not applicable*, with a reason."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay.lab.harness.subject.bearer import (
    CAPITALS,
    EXPIRED,
    FOREIGN,
    NOT_YET,
    OTHER,
    OTHER_ISSUER,
    SKEWED,
    STEPPED,
    WEAK,
)
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.out_of_band import DISK, REGISTRY, SPANS

from .reason import Reason, ReasonKind


class Need(Struct, frozen=True):
    met: Callable[[Facts], bool]
    lacking: str
    """Completes "not applicable: the server …"."""
    options: tuple[str, ...] = ()
    """Command-line options that would meet the need."""

    @property
    def reason(self) -> Reason:
        kind = ReasonKind.NEEDS_OPTION if self.options else ReasonKind.NOT_APPLICABLE
        return Reason(kind, f"the server {self.lacking}", self.options)


def declares(*path: str) -> Need:
    return Need(lambda facts: facts.declares(*path), f"does not declare `{'.'.join(path)}`")


def either(first: Need, second: Need) -> Need:
    return Need(
        lambda facts: first.met(facts) or second.met(facts),
        f"{first.lacking} and {second.lacking}",
        (*first.options, *second.options),
    )


A_TOOL = Need(lambda facts: bool(facts.tools), "lists no tools")
A_CALLABLE_TOOL = Need(
    lambda facts: bool(facts.callable_tools),
    "has no tool with `readOnlyHint`: allow calls of others with --allow-effects",
    ("--allow-effects",),
)
A_READ_ONLY_TOOL = Need(lambda facts: bool(facts.read_only_tools), "has no tool with `readOnlyHint`")
A_RESOURCE = Need(lambda facts: bool(facts.resources), "lists no resources")
A_PROMPT = Need(lambda facts: bool(facts.prompts), "lists no prompts")
A_SESSION = Need(lambda facts: facts.session, "assigns no session id")
A_SEPARATE_SERVER = Need(
    lambda facts: facts.startable, "runs at a fixed address: the lab cannot start another process of it"
)
LOCAL = Need(lambda facts: facts.local, "is on another machine, and its allowed origins are unknown")
PROTECTED = Need(
    lambda facts: facts.protected,
    "did not ask for a token; provide one with --bearer or --authority",
    ("--bearer", "--authority"),
)

A_CLIENT_CERTIFICATE = Need(
    lambda facts: bool(facts.certificates),
    "was judged without a client certificate; provide one with --client-cert, for an https:// URL",
    ("--client-cert",),
)


def has_token(kind: str, *options: str, spelled: str = "") -> Need:
    """The driver has a token of this kind, from one of the options or as `spelled` describes."""
    lacking = (
        f"was judged without a token of the kind `{kind}`; provide one with {spelled or ' or '.join(options)}"
    )
    return Need(lambda facts: kind in facts.bearers, lacking, options)


def has_evidence(kind: str, option: str) -> Need:
    """A kind of evidence besides the messages is available through `option`."""
    return Need(lambda facts: kind in facts.out_of_band, f"was judged without {option}", (option,))


AN_OBSERVED_DISK = has_evidence(DISK, "--observe")
EXPORTED_SPANS = has_evidence(SPANS, "--otlp")
A_REGISTRY_ENTRY = has_evidence(REGISTRY, "--registry")
ANOTHER_USER = has_token(OTHER, "--bearer-other", "--authority")
A_WEAK_TOKEN = has_token(
    WEAK,
    "--bearer-weak",
    "--authority",
    "--token-scope",
    spelled="--bearer-weak, or --authority and --token-scope",
)
AN_EXPIRED_TOKEN = has_token(
    EXPIRED, "--bearer-expired", "--authority", spelled="--bearer-expired or a minting --authority"
)
A_FOREIGN_TOKEN = has_token(FOREIGN, "--bearer-foreign", "--authority")
A_TOKEN_OF_ANOTHER_ISSUER = has_token(OTHER_ISSUER, "--authority", spelled="a minting --authority")
A_FUTURE_TOKEN = has_token(NOT_YET, "--authority", spelled="a minting --authority")
A_SKEWED_TOKEN = has_token(SKEWED, "--authority", spelled="a minting --authority")
TOKENS_IN_CAPITALS = has_token(CAPITALS, "--authority")
TOKENS_ON_DEMAND = has_token(STEPPED, "--authority")


def unmet(needs: tuple[Need, ...], facts: Facts) -> Reason | None:
    """The first reason why a scenario does not apply; None if it applies."""
    return next((need.reason for need in needs if not need.met(facts)), None)
