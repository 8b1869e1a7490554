"""How the client gets a token, for each grant that suites name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from assay import ClientCredentials, EnterpriseAuth, OAuth, WorkloadIdentity

from .task import BadTask, Task

CLIENT_DOCUMENT: Final = "https://conformance-test.local/client-metadata.json"
"""Represents the client's metadata document; suites do not fetch it."""


def as_user(task: Task) -> OAuth:
    """The suite's authorization servers redirect at once, instead of asking a person."""
    return OAuth(
        headless=True,
        client_id=task.context.get("client_id"),
        client_secret=task.context.get("client_secret"),
        client_metadata_url=CLIENT_DOCUMENT,
    )


def as_program(task: Task) -> ClientCredentials:
    return ClientCredentials(
        task.value("client_id"),
        task.context.get("client_secret"),
        private_key=task.context.get("private_key_pem"),
        algorithm=task.context.get("signing_algorithm"),
    )


def as_workload(task: Task) -> WorkloadIdentity:
    return WorkloadIdentity(task.value("valid_jwt"), client_id=task.value("client_id"))


def as_employee(task: Task) -> EnterpriseAuth:
    return EnterpriseAuth(
        task.value("client_id"),
        task.value("client_secret"),
        id_token=task.value("idp_id_token"),
        idp_client_id=task.value("idp_client_id"),
        idp_issuer=task.value("idp_issuer"),
        idp_token_endpoint=task.value("idp_token_endpoint"),
    )


GRANTS: Final[dict[str, Callable[[Task], Any]]] = {
    "authorization_code": as_user,
    "client_credentials": as_program,
    "jwt_bearer": as_workload,
    "token_exchange": as_employee,
}


def authorization(grant: str, task: Task) -> Any:
    """
    Raises:
        BadTask: the grant is unknown, or the context lacks its data.
    """
    if grant not in GRANTS:
        raise BadTask(f"unknown grant {grant!r}")
    return GRANTS[grant](task)
