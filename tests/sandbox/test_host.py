"""The choice of a level: the strongest that the host allows, or a reason and what to change."""

import pytest

from assay.sandbox.error import SandboxUnavailable
from assay.sandbox.host import FIXES, Trial, choose, fix_for
from assay.sandbox.launch.plan import NAMESPACES, Plan, Protection
from assay.sandbox.level import LADDER, Level, Rung, rungs

NAMESPACES_REFUSED = "namespaces: Operation not permitted"
NO_GROUP = "cgroup: no group for memory and processes that this user may divide"
NO_LANDLOCK = "landlock: the kernel has none"


def host(*, namespaces: bool = True, group: bool = True, landlock: bool = True) -> Trial:
    def trial(rung: Rung) -> str:
        if rung.user_namespace and not namespaces:
            return NAMESPACES_REFUSED
        if rung.needs_group and not group:
            return NO_GROUP
        return NO_LANDLOCK if rung.needs_landlock and not landlock else ""

    return trial


@pytest.mark.parametrize(
    ("least", "allowed", "level", "backend"),
    [
        (None, {}, "L3", "namespaces"),
        (None, {"landlock": False}, "L3", "namespaces"),
        (None, {"group": False}, "L2", "namespaces"),
        (None, {"namespaces": False}, "L2", "landlock"),
        ("L3", {}, "L3", "namespaces"),
        ("L2", {}, "L3", "namespaces"),
        ("L2", {"group": False}, "L2", "namespaces"),
        ("L1", {"namespaces": False, "landlock": False}, "L1", "rlimits"),
        ("L1", {}, "L3", "namespaces"),
    ],
)
def test_the_strongest_way_that_the_host_allows_is_chosen(
    least: str | None, allowed: dict[str, bool], level: str, backend: str
) -> None:
    choice = choose(Level(least) if least else None, host(**allowed))

    assert (choice.rung.level, choice.rung.backend) == (level, backend)


@pytest.mark.parametrize(
    ("least", "allowed", "reason", "change"),
    [
        ("L3", {"namespaces": False}, NAMESPACES_REFUSED, "allow user namespaces"),
        ("L3", {"group": False}, NO_GROUP, "systemd-run"),
        ("L2", {"namespaces": False, "landlock": False}, NO_LANDLOCK, "allow user namespaces"),
        (None, {"namespaces": False, "landlock": False}, NO_LANDLOCK, "allow user namespaces"),
    ],
)
def test_what_the_host_does_not_allow_is_refused_with_the_reason_and_the_change(
    least: str | None, allowed: dict[str, bool], reason: str, change: str
) -> None:
    with pytest.raises(SandboxUnavailable) as caught:
        choose(Level(least) if least else None, host(**allowed))

    assert reason in caught.value.problem
    assert change in caught.value.fix


def test_nothing_is_run_that_leaves_the_network_open_unless_it_is_asked_for() -> None:
    assert Level.L1 not in {rung.level for rung in rungs(None)}
    assert all(Protection.SECCOMP in rung.protections for rung in rungs(None))


def test_the_strongest_rung_has_every_protection() -> None:
    assert LADDER[0].protections == frozenset(Protection)
    assert [rung.level for rung in LADDER] == sorted((rung.level for rung in LADDER), reverse=True)


def test_a_rung_without_namespaces_relays_nothing() -> None:
    plan = Plan(frozenset(), (), "/s", "/", (), relay="ENDPOINT")

    for rung in LADDER:
        assert bool(rung.applied_to(plan).relay) is rung.protections.issuperset(NAMESPACES)


@pytest.mark.parametrize("prefix", [prefix for prefix, _ in FIXES])
def test_each_step_that_a_host_may_refuse_has_a_fix(prefix: str) -> None:
    assert fix_for(f"{prefix} Operation not permitted") == dict(FIXES)[prefix]
