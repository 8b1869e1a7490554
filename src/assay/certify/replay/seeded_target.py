"""A target whose process gets the seeds of a bundle in its environment, if it is started here."""

from __future__ import annotations

from collections.abc import Mapping

from assay.lab.access import Credentials
from assay.lab.harness.subject.subject import CommandSubject, Subject
from assay.lab.subjects import subjects_of
from assay.lab.target import Command, Served, Target, Url


def seeded(target: Target, environment: Mapping[str, str]) -> Target:
    """The target with these variables. A server that is only reached at a URL has the environment it has."""
    match target:
        case Served(name, options, own):
            return Served(name, options, {**own, **environment})
        case Command(words):
            return Command(with_variables(words, environment))
        case Url(url, command):
            return Url(url, with_variables(command, environment)) if command else target


def with_variables(words: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The command line that sets these variables and starts a command."""
    return ("env", *(f"{name}={value}" for name, value in environment.items()), *words)


def subject_for(
    target: Target, environment: Mapping[str, str], transport: str, credentials: Credentials
) -> Subject:
    """A subject that was not started yet.

    Raises:
        InvalidOptions: the target does not serve that transport.
    """
    if isinstance(target, Command) and transport == "stdio":
        return CommandSubject(target.words, environment)
    return subjects_of(seeded(target, environment), [transport], credentials)[0]
