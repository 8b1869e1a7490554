"""The part of a handler's context that asks the client something and waits for the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack, overload

from assay.model.answer import Elicited, Root, Sampled
from assay.model.content import Block
from assay.model.result import Message

from .call import Call, CallContext
from .form import Form
from .question import AskOptions, ask_for_input, ask_for_ping, ask_for_roots, ask_for_sample, ask_for_url

if TYPE_CHECKING:
    from types import UnionType
    from typing import _SpecialForm

    TypeForm: TypeAlias = _SpecialForm | UnionType
    """What type checkers see in `Literal["a", "b"]` or `str | None`."""

T = TypeVar("T")
TitledChoices: TypeAlias = dict[str, dict[str, str]]
"""Choices with titles: `{"y": {"title": "Yes"}}`."""


class ElicitOptions(TypedDict, total=False):
    timeout: float | None
    key: str | None
    response_title: str | None
    response_description: str | None


class AskingContext(CallContext):
    """Base of `Context`: questions to the client."""

    __slots__ = ("_call",)

    _call: Call

    async def sample(
        self,
        messages: str | Block | Message | Sequence[str | Block | Message],
        *,
        max_tokens: int = 1000,
        timeout: float | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Sampled:
        """Ask the client's language model: `(await ctx.sample("Summarise this: ...")).text`.

        Args:
            messages: One message or several. Text and content blocks are sent as messages of the user.
            max_tokens: The longest answer to generate.
            timeout: Seconds to wait for the answer; unlimited by default.
            key: Identifies the question when the handler runs again; by default questions are numbered.
            **options: Other parameters of the protocol in snake case: `system_prompt`, `temperature`,
                `model_preferences`, `stop_sequences`, `include_context`, `tools`, `tool_choice`.

        Raises:
            AskError: the client does not support sampling, refused, or did not answer in time.
        """
        return await ask_for_sample(self._call, messages, max_tokens, options, AskOptions(timeout, key))

    @overload
    async def elicit(
        self, message: str, schema: type[T], **options: Unpack[ElicitOptions]
    ) -> Elicited[T]: ...
    @overload
    async def elicit(
        self, message: str, schema: list[str], **options: Unpack[ElicitOptions]
    ) -> Elicited[str]: ...
    @overload
    async def elicit(
        self, message: str, schema: list[list[str]] | list[TitledChoices], **options: Unpack[ElicitOptions]
    ) -> Elicited[list[str]]: ...
    @overload
    async def elicit(
        self, message: str, schema: Mapping[str, Any], **options: Unpack[ElicitOptions]
    ) -> Elicited[dict[str, Any]]: ...
    @overload
    async def elicit(
        self, message: str, *, response_type: type[T], **options: Unpack[ElicitOptions]
    ) -> Elicited[T]: ...
    @overload
    async def elicit(
        self, message: str, schema: TypeForm, **options: Unpack[ElicitOptions]
    ) -> Elicited[Any]: ...
    @overload
    async def elicit(
        self, message: str, *, response_type: object, **options: Unpack[ElicitOptions]
    ) -> Elicited[Any]: ...
    async def elicit(
        self,
        message: str,
        schema: Any = None,
        *,
        response_type: Any = None,
        timeout: float | None = None,
        key: str | None = None,
        response_title: str | None = None,
        response_description: str | None = None,
    ) -> Elicited[Any]:
        """Ask the user to fill in a form, or for one value.

            @dataclass
            class Booking:
                date: str
                seats: int = 2

            reply = await ctx.elicit("When do you arrive?", Booking)
            if reply.accepted:
                book(reply.data.date, reply.data.seats)

            sure = await ctx.elicit("Delete everything?", bool)
            size = await ctx.elicit("Which size?", ["small", "large"])

        Args:
            message: What the user is asked.
            schema: What to answer: a class with fields of simple types, the type of one value (`str`, `int`,
                `float`, `bool`, an `Enum`, a `Literal`, a list of such choices), choices, or a JSON Schema of
                a flat object.
            response_type: Another name of `schema`.
            timeout: Seconds to wait for the answer; unlimited by default.
            key: Identifies the question when the handler runs again; by default questions are numbered.
            response_title: The label of the field, if one value is asked for.
            response_description: Its description.

        Raises:
            AskError: the client does not support elicitation, did not answer in time, or its answer does not
                fit the schema.
            RegistrationError: a form cannot ask for this type.
        """
        source = response_type if schema is None else schema
        form = Form(source, title=response_title, description=response_description)
        return await ask_for_input(self._call, message, form, AskOptions(timeout, key))

    async def elicit_url(
        self, message: str, url: str, *, timeout: float | None = None, key: str | None = None
    ) -> Elicited[None]:
        """Ask the user to open a page, for data that the client must not see: passwords, payments.

        Call `elicitation_complete` with the reply's `id` when the user has finished.

        Raises:
            AskError: the client does not support elicitation by URL, or did not answer in time.
        """
        return await ask_for_url(self._call, message, url, AskOptions(timeout, key))

    async def elicitation_complete(self, elicitation_id: str) -> None:
        """Notify the client that an elicitation by URL is complete. Does nothing in revisions without such
        a notification."""
        if self._call.peer.revision.elicitation_ids:
            await self._call.notify("notifications/elicitation/complete", {"elicitationId": elicitation_id})

    async def roots(self, *, timeout: float | None = None, key: str | None = None) -> list[Root]:
        """The files and folders that the client allows the server to work in.

        Raises:
            AskError: the client does not support roots, or did not answer in time.
        """
        return await ask_for_roots(self._call, AskOptions(timeout, key))

    @property
    def task_id(self) -> str | None:
        """The id of the task that this call runs as; None for a plain call."""
        return self._call.task_id

    async def start_task(self) -> bool:
        """In a tool with `task="on_demand"`: answer the request with a task, and continue as that task.

        What the handler asks before becomes part of the request, what it asks afterwards part of the task.
        Returns False if the client cannot have tasks: the handler continues as a plain call.
        """
        return await self._call.start_task()

    async def ping(self, *, timeout: float | None = None) -> None:
        """Wait for the client to answer a ping.

        Raises:
            AskError: it did not answer in time, or its protocol revision has no ping.
        """
        await ask_for_ping(self._call, AskOptions(timeout))
