"""Hints for unmet demands."""

from assay.certify.fix_hint import HINTS, fix_hint
from assay.certify.profile_list import known_digests, shipped


def test_every_hint_belongs_to_a_demand() -> None:
    names = [demand.id for edition in known_digests() for demand in shipped(edition).demands]
    assert [
        prefix for prefix in HINTS if not any(f"{name}.".startswith(f"{prefix}.") for name in names)
    ] == []


def test_a_demand_gets_its_own_hint_or_its_groups() -> None:
    assert "@server.prompt(version=" in fix_hint("CONF-CAP-03.prompts.digest")
    assert fix_hint("CONF-CAP-03.promptsother") == ""
    assert fix_hint("CONF-JRPC-02.id-echo") == ""
