"""The lab: judges MCP servers and clients by what they send, and keeps the frames that prove each verdict.

`judge` and `judge_client` return a run; `follow` and `follow_client` show it as it goes. The names below are
public. They are loaded when first used: importing one module of the lab must not load the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from assay.lab.harness.run.conclusion import Conclusion as Conclusion
    from assay.lab.harness.run.conclusion import conclude as conclude
    from assay.lab.harness.run.run import Run as Run
    from assay.lab.report.registry import render as render
    from assay.lab.surface.report import LintReport as LintReport

    from .argument_run import FoundArguments as FoundArguments
    from .argument_run import find_arguments as find_arguments
    from .client_run import follow_client as follow_client
    from .client_run import judge_client as judge_client
    from .error import CannotJudge as CannotJudge
    from .error import CannotStore as CannotStore
    from .error import Interrupted as Interrupted
    from .error import InvalidOptions as InvalidOptions
    from .error import LabError as LabError
    from .error import SubjectNotStarted as SubjectNotStarted
    from .lint_run import LintOptions as LintOptions
    from .lint_run import lint as lint
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

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".argument_run": "FoundArguments find_arguments",
        ".client_run": "follow_client judge_client",
        ".error": "CannotJudge CannotStore Interrupted InvalidOptions LabError SubjectNotStarted",
        ".harness.run.conclusion": "Conclusion conclude",
        ".harness.run.run": "Run",
        ".lint_run": "LintOptions lint",
        ".live_run": "LiveRun",
        ".options": "Access ClientOptions Evidence Golden JudgeOptions",
        ".report.registry": "render",
        ".server_run": "follow judge",
        ".surface.report": "LintReport",
        ".target": "Command Served Url",
    },
)
