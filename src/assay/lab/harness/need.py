"""What a scenario needs of its subject. An unmet need makes it *not applicable*, for the reason it gives."""

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
    """Options of the command line that would meet it."""

    @property
    def reason(self) -> Reason:
        kind = ReasonKind.NEEDS_OPTION if self.options else ReasonKind.NOT_APPLICABLE
        return Reason(kind, f"the server {self.lacking}", self.options)


def declares(*path: str) -> Need:
    return Need(lambda facts: facts.declares(*path), f"does not declare `{'.'.join(path)}`")


def lacks(*path: str) -> Need:
    return Need(lambda facts: not facts.declares(*path), f"declares `{'.'.join(path)}`")


def either(one: Need, other: Need) -> Need:
    return Need(
        lambda facts: one.met(facts) or other.met(facts),
        f"{one.lacking} and {other.lacking}",
        (*one.options, *other.options),
    )


A_TOOL = Need(lambda facts: bool(facts.tools), "lists no tools")
A_READ_ONLY_TOOL = Need(lambda facts: bool(facts.read_only_tools), "has no tool that says it only reads")
A_RESOURCE = Need(lambda facts: bool(facts.resources), "lists no resources")
A_TEMPLATE = Need(lambda facts: bool(facts.templates), "lists no resource templates")
A_PROMPT = Need(lambda facts: bool(facts.prompts), "lists no prompts")
A_SESSION = Need(lambda facts: facts.session, "gives out no session id")
LOCAL = Need(lambda facts: facts.local, "is on another machine, whose friends the lab does not know")
PROTECTED = Need(
    lambda facts: facts.protected,
    "was not seen to ask for a token; one is given with --bearer or --authority",
    ("--bearer", "--authority"),
)

CERTIFIED = Need(
    lambda facts: bool(facts.certificates),
    "is not said to ask for certificates; one is given with --client-cert, for an https:// URL",
    ("--client-cert",),
)


def bears(kind: str, *options: str, spelled: str = "") -> Need:
    """A token of that kind can be shown: the user gives it with one of the options, or as `spelled` says."""
    lacking = f"can be shown no such token ({kind}) without {spelled or ' or '.join(options)}"
    return Need(lambda facts: kind in facts.bearers, lacking, options)


def beside(kind: str, option: str) -> Need:
    """Something can be seen beside the messages. `option` is how the user shows it to us."""
    return Need(lambda facts: kind in facts.beside, f"was judged without {option}", (option,))


AN_OBSERVED_DISK = beside(DISK, "--observe")
SPANS_TO_SEE = beside(SPANS, "--otlp")
A_REGISTRY_ENTRY = beside(REGISTRY, "--registry")
ANOTHER_USER = bears(OTHER, "--bearer-other", "--authority")
A_WEAK_TOKEN = bears(
    WEAK,
    "--bearer-weak",
    "--authority",
    "--token-scope",
    spelled="--bearer-weak, or --authority and --token-scope",
)
AN_EXPIRED_TOKEN = bears(
    EXPIRED, "--bearer-expired", "--authority", spelled="--bearer-expired or a minting --authority"
)
A_FOREIGN_TOKEN = bears(FOREIGN, "--bearer-foreign", "--authority")
A_TOKEN_OF_ANOTHER_ISSUER = bears(OTHER_ISSUER, "--authority", spelled="a minting --authority")
A_TOKEN_TO_COME = bears(NOT_YET, "--authority", spelled="a minting --authority")
A_SKEWED_TOKEN = bears(SKEWED, "--authority", spelled="a minting --authority")
TOKENS_IN_CAPITALS = bears(CAPITALS, "--authority")
TOKENS_AT_WILL = bears(STEPPED, "--authority")


def unmet(needs: tuple[Need, ...], facts: Facts) -> Reason | None:
    """The first reason why a scenario does not apply; none when it does."""
    return next((need.reason for need in needs if not need.met(facts)), None)
