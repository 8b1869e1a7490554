"""A plan, and what the inner processes read from it."""

import pytest

from assay.sandbox.launch import kernel
from assay.sandbox.launch.plan import NAMESPACES, Limits, Plan, Protection, parse_plan
from assay.sandbox.launch.process import (
    environment,
    filter_of,
    landlock_rules,
    namespace_flags,
    relayed_port,
    sockets,
)
from assay.sandbox.launch.seccomp import Sockets

PLAN = Plan(frozenset(Protection), ("/usr",), "/var/tmp/s/scratch", "/", ("PATH", "TOKEN"), relay="ENDPOINT")


def test_a_plan_survives_the_command_line() -> None:
    plan = PLAN._replace(limits=Limits(memory=5), needs_group=True, listener=9)

    assert parse_plan(plan.as_json()) == plan


def test_a_plan_does_not_have_values_of_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret-of-the-user")

    assert "secret-of-the-user" not in PLAN.as_json()


def test_only_named_variables_are_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "named")
    monkeypatch.setenv("OTHER", "not named")

    variables = environment(PLAN)

    assert variables["TOKEN"] == "named"
    assert "OTHER" not in variables
    assert variables["HOME"] == "/var/tmp/s/scratch"
    assert "OTHER" in environment(PLAN.without(Protection.ENVIRONMENT))


FLAGS = {
    Protection.PROCESSES: kernel.CLONE_NEWPID,
    Protection.NETWORK: kernel.CLONE_NEWNET,
    Protection.IPC: kernel.CLONE_NEWIPC,
    Protection.HOST_NAME: kernel.CLONE_NEWUTS,
    Protection.USER: kernel.CLONE_NEWUSER,
}


@pytest.mark.parametrize(("protection", "flag"), FLAGS.items())
def test_each_namespace_has_its_switch(protection: Protection, flag: int) -> None:
    assert namespace_flags(PLAN) & flag
    assert namespace_flags(PLAN.without(protection)) == namespace_flags(PLAN) & ~flag


def test_without_namespaces_the_process_is_only_forked() -> None:
    plan = PLAN.without(*NAMESPACES)._replace(user_namespace=False)

    assert namespace_flags(plan) == 0


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (PLAN, Sockets.RELAYED),
        (PLAN._replace(relay=""), Sockets.LOCAL),
        (PLAN.without(Protection.NETWORK), Sockets.NONE),
        (PLAN.without(Protection.FILES), Sockets.NONE),
    ],
)
def test_sockets_that_would_reach_the_host_are_refused(plan: Plan, expected: Sockets) -> None:
    assert sockets(plan) is expected


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://127.0.0.1:4318", 4318),
        ("http://127.0.0.1:4318/v1/traces", 4318),
        ("http://example.com:4318", 0),
        ("http://127.0.0.1.example.com:80", 0),
        ("https://127.0.0.1:4318", 0),
        ("", 0),
    ],
)
def test_only_a_port_of_the_loopback_address_is_relayed(url: str, port: int) -> None:
    assert relayed_port(PLAN, {"ENDPOINT": url}) == port
    assert relayed_port(PLAN.without(Protection.NETWORK), {"ENDPOINT": url}) == 0


def test_landlock_allows_to_write_to_the_scratch_directory_only() -> None:
    inside, alone = landlock_rules(PLAN), landlock_rules(PLAN.without(Protection.FILES))

    assert inside.read == ("/",)
    assert "/usr" in alone.read and "/" not in alone.read
    assert {path for path in alone.write if not path.startswith("/dev/")} == {"/var/tmp/s/scratch"}
    assert "/tmp" not in alone.write


def test_the_filter_depends_on_what_the_namespaces_separate() -> None:
    assert filter_of(PLAN, "x86_64") != filter_of(PLAN.without(Protection.IPC), "x86_64")
