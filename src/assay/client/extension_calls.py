"""What a client can ask of the extensions of a server: tasks, skills and apps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw

from assay.model.client_limits import ClientLimits
from assay.model.content import Contents
from assay.model.definition import ToolDefinition
from assay.model.result import ToolResult

from .callback import Callback
from .number import check_numbers

if TYPE_CHECKING:
    from assay.model.skill import LoadedSkill, Skill
    from assay.revisions.revision import TaskForm

    from .apps import AppPage
    from .input_required import Question
    from .task import RunningTask

DEFAULT: Final[Any] = object()
"""The timeout of the client."""


class ExtensionCalls(ABC):
    """Base of `Calls`."""

    limits: ClientLimits

    @abstractmethod
    async def _request(
        self,
        method: str,
        params: dict[str, Any] | None,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
        idempotent: bool | None = None,
    ) -> Raw: ...

    @abstractmethod
    async def tools(self, *, fresh: bool = False) -> list[ToolDefinition]: ...

    @abstractmethod
    async def read(
        self, uri: str, *, timeout: float | None = DEFAULT, fresh: bool = False
    ) -> list[Contents]: ...

    @abstractmethod
    def _tool_result(self, name: str, raw: Raw, check: bool) -> ToolResult: ...

    @property
    @abstractmethod
    def task_form(self) -> TaskForm: ...

    @property
    @abstractmethod
    def revision(self) -> str: ...

    @property
    @abstractmethod
    def capabilities(self) -> dict[str, Any]: ...

    @abstractmethod
    async def _answers(self, questions: Mapping[str, Question]) -> dict[str, Any]: ...

    async def call_task(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        ttl: float | None = None,
        timeout: float | None = DEFAULT,
        check: bool = True,
        meta: Mapping[str, Any] | None = None,
    ) -> RunningTask:
        """Call a tool as a task, which outlives the connection.

            task = await client.call_task("report", {"year": 2025})
            result = await task

        Args:
            name, arguments, check, meta: As for `call_tool`.
            ttl: Seconds that the server should keep the task, where clients may ask for that.
            timeout: Seconds to wait for the answer that the task has begun.

        Raises:
            ClientError: the server has no tasks, no answer, or an error.
        """
        from .task import begin_task

        if arguments:
            check_numbers(arguments, name)
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        if meta is not None:
            params["_meta"] = dict(meta)
        return await begin_task(self, params, ttl=ttl, timeout=timeout, check=check)

    def task(self, task_id: str, *, tool: str = "", check: bool = True) -> RunningTask:
        """A task that was begun earlier, also by another process. `tool` is its name, for the check of the
        result against its output schema."""
        from .task import RunningTask

        return RunningTask(self, tool, task_id=task_id, check=check)

    async def app(self, tool: ToolDefinition) -> AppPage | None:
        """The page that shows the results of a tool; None if it has none. Servers offer pages to
        `Client(…, apps=True)` only.

        Raises:
            InvalidAnswer: the page breaks the rules of the extension.
            ClientError: no answer, or an error.
        """
        from .apps import read_app

        return await read_app(self.read, tool)

    async def skills(self) -> list[Skill]:
        """The skills that the server lists. None of their files is read; entries that break the rules of the
        extension are left out, with a warning in the log."""
        from .skills import list_skills

        return await list_skills(self._request, self.limits)

    async def skill(self, uri: str) -> Skill:
        """One skill, listed or not, by the URI of its `SKILL.md`.

        Raises:
            ServerError: the server has no such skill.
        """
        from .skills import get_skill

        return await get_skill(self._request, uri)

    async def load_skill(self, skill: Skill) -> LoadedSkill:
        """Read the `SKILL.md` of a skill and compare size, digest and frontmatter with its entry.

        Raises:
            InvalidAnswer: they differ: do not use the skill.
        """
        from .skills import load_skill

        return await load_skill(self._request, skill)

    async def skill_file(self, loaded: LoadedSkill, path: str) -> Contents:
        """Read a further file of a skill, by its path or URI, and compare size and digest with the entry.

        Raises:
            ValueError: the entry does not list it.
            InvalidAnswer: they differ.
        """
        from .skills import read_skill_file

        return await read_skill_file(self._request, loaded, path)
