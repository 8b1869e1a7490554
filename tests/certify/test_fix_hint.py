"""Hints for unmet demands."""

from assay.certify.fix_hint import HINTS, fix_hint
from assay.certify.profile_list import INTELGRAPH, shipped


def test_every_remedy_is_for_a_demand() -> None:
    names = [demand.id for demand in shipped(INTELGRAPH).demands]
    assert [
        prefix for prefix in HINTS if not any(f"{name}.".startswith(f"{prefix}.") for name in names)
    ] == []


def test_a_demand_gets_its_own_or_that_of_its_group() -> None:
    assert "@server.prompt(version=" in fix_hint("CONF-CAP-03.prompts.digest")
    assert fix_hint("CONF-CAP-03.promptsother") == ""
    assert fix_hint("CONF-JRPC-02.id-echo") == ""
