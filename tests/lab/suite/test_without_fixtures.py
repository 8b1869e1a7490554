"""Every fault can be shown by any server: no requirement is proved only with the official suite's fixtures.

`tests/system/test_without_hints.py` runs these saboteurs in front of tools without annotations.
"""

from assay.lab.harness.sabotage.saboteur import WITH_TOKENS, Saboteur
from assay.lab.suites import protocol_suite
from tests.meta.tree import expect_none

SUITE = protocol_suite()


def saboteurs_without_fixtures() -> dict[str, list[Saboteur]]:
    """The saboteurs of each requirement in front of the reference server, with or without tokens."""
    saboteurs: dict[str, list[Saboteur]] = {}
    for saboteur in SUITE.saboteurs.values():
        group = saboteurs.setdefault(saboteur.breaks, [])
        if saboteur.server is None or saboteur.server.startswith(WITH_TOKENS):
            group.append(saboteur)
    return saboteurs


def test_every_requirement_has_a_saboteur_without_fixtures() -> None:
    groups = saboteurs_without_fixtures().items()
    expect_none(f"{name}: its saboteurs need the everything server" for name, group in groups if not group)
