"""Each rule for the entry of a skill: what follows it, what breaks it, and what it has no say in."""

from collections.abc import Callable
from typing import Any

import pytest

from assay.lab.suite import skill_entry as rules

FILE = {"uri": "skill://a/b/SKILL.md", "digest": "sha256:" + "0" * 64, "size": 0}
SOUND: dict[str, Any] = {
    "uri": "skill://a/b/SKILL.md",
    "frontmatter": {"name": "b", "description": "c", "metadata": {"x": "y"}},
    "resources": [FILE],
}
RULES = [one for name, one in vars(rules).items() if name.endswith("_faults")]


@pytest.mark.parametrize("rule", RULES)
def test_a_sound_entry_breaks_no_rule(rule: Callable[[rules.Entry], rules.Faults]) -> None:
    assert rule(SOUND) == []


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("entry", [{}, {"uri": 1, "frontmatter": [], "resources": [1]}, {"uri": "x"}])
def test_rules_take_any_entry(rule: Callable[[rules.Entry], rules.Faults], entry: rules.Entry) -> None:
    faults = rule(entry)
    assert faults is None or isinstance(faults, list)


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        (rules.uri_faults, {"uri": ""}),
        (rules.frontmatter_faults, {"frontmatter": {"name": "b"}}),
        (rules.name_faults, {"uri": "skill://b/a/SKILL.md"}),
        (rules.name_faults, {"uri": "skill://b/skill.md"}),
        (rules.naming_faults, {"uri": "skill://a/-b/SKILL.md"}),
        (rules.naming_faults, {"uri": "skill://a/b--c/SKILL.md"}),
        (rules.naming_faults, {"uri": f"skill://a/{'b' * 65}/SKILL.md"}),
        (rules.scheme_faults, {"uri": "file://a/b/SKILL.md"}),
        (rules.authority_faults, {"uri": "skill://a b/b/SKILL.md"}),
        (rules.resources_faults, {"resources": "static"}),
        (rules.complete_faults, {"resources": []}),
        (rules.complete_faults, {"resources": [FILE, FILE]}),
        (rules.within_faults, {"resources": [{**FILE, "uri": "skill://a/bc/d.md"}]}),
        (rules.digest_faults, {"resources": [{**FILE, "digest": "sha256:0"}]}),
        (rules.size_faults, {"resources": [{**FILE, "size": -1}]}),
        (rules.size_faults, {"resources": [{**FILE, "size": True}]}),
        (rules.count_faults, {"resources": [FILE] * 513}),
        (rules.total_faults, {"resources": [{**FILE, "size": 2**24}, {**FILE, "size": 1}]}),
        (rules.reserved_faults, {"frontmatter": {"metadata": {"io.modelcontextprotocol/x": 1}}}),
    ],
)
def test_rules_find_what_breaks_them(
    rule: Callable[[rules.Entry], rules.Faults], changed: dict[str, Any]
) -> None:
    assert rule({**SOUND, **changed})


def test_children_are_told_from_files() -> None:
    files = [FILE, {**FILE, "uri": "skill://a/b/c/d.md"}, {**FILE, "uri": "skill://a/b/c/e/f.md"}]
    entry = {**SOUND, "resources": files}
    assert rules.subdirectories(entry) == ["skill://a/b/c"]
    assert rules.children(entry, "skill://a/b/c") == {
        "skill://a/b/c/d.md": None,
        "skill://a/b/c/e": "inode/directory",
    }
