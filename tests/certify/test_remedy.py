"""What can be done about a demand."""

from assay.certify.profile_list import INTELGRAPH, shipped
from assay.certify.remedy import REMEDIES, remedy


def test_every_remedy_is_for_a_demand() -> None:
    names = [one.id for one in shipped(INTELGRAPH).demands]
    assert [
        begin for begin in REMEDIES if not any(f"{name}.".startswith(f"{begin}.") for name in names)
    ] == []


def test_a_demand_gets_its_own_or_that_of_its_group() -> None:
    assert "@server.prompt(version=" in remedy("CONF-CAP-03.prompts.digest")
    assert remedy("CONF-CAP-03.promptsother") == ""
    assert remedy("CONF-JRPC-02.id-echo") == ""
