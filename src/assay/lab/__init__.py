"""The lab: judges MCP servers and clients by what they send, and keeps the frames that prove each verdict.

`judge` and `judge_client` return a run; `follow` and `follow_client` show it as it goes. The names below are
public. They are loaded when first used: importing one module of the lab must not load the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.lab.harness.run.conclusion import Conclusion as Conclusion
    from assay.lab.harness.run.conclusion import conclude as conclude
    from assay.lab.harness.run.run import Run as Run
    from assay.lab.report.registry import render as render

    from .client_run import follow_client as follow_client
    from .client_run import judge_client as judge_client
    from .error import CannotJudge as CannotJudge
    from .error import CannotStore as CannotStore
    from .error import Interrupted as Interrupted
    from .error import InvalidOptions as InvalidOptions
    from .error import LabError as LabError
    from .error import SubjectNotStarted as SubjectNotStarted
    from .live_run import LiveRun as LiveRun
    from .options import Access as Access
    from .options import ClientOptions as ClientOptions
    from .options import Evidence as Evidence
    from .options import Golden as Golden
    from .options import JudgeOptions as JudgeOptions
    from .server_run import follow as follow
    from .server_run import judge as judge
    from .target import Command as Command
    from .target import Served as Served
    from .target import Url as Url

_HOMES = {
    "client_run": ("follow_client", "judge_client"),
    "error": ("CannotJudge", "CannotStore", "Interrupted", "InvalidOptions", "LabError", "SubjectNotStarted"),
    "harness.run.conclusion": ("Conclusion", "conclude"),
    "harness.run.run": ("Run",),
    "live_run": ("LiveRun",),
    "options": ("Access", "ClientOptions", "Evidence", "Golden", "JudgeOptions"),
    "report.registry": ("render",),
    "server_run": ("follow", "judge"),
    "target": ("Command", "Served", "Url"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604 - computed from the table above
    *_HOME_OF
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
