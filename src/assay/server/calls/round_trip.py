"""Questions to the client in revisions without server-to-client requests (multi round-trip requests).

A request whose handler asks a question ends with an `input_required` result. The client sends the request
again with the answers; the handler then runs from the start and finds the answers it already has.

What must survive between two attempts is sealed into `requestState`, which the client carries: answers of
earlier rounds, which questions they answer, results stored by `ctx.once`, and effects reported so far.
"""

from __future__ import annotations

import asyncio
import time
from itertools import count
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct, UnsetType

from assay.model.effect import Effect
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, AskError, RpcError
from assay.model.result import InputRequest, InputRequired
from assay.protocol.codec import encode
from assay.protocol.principal import digest as make_digest
from assay.protocol.principal import digest_of_principal
from assay.protocol.seal import Sealer

UNNAMED: Final = "question-"


class InputNeeded(BaseException):
    """Ends a handler whose questions are not answered yet. Not an `Exception`, so that a handler's own
    `except Exception` does not catch it."""

    def __init__(self, result: InputRequired) -> None:
        super().__init__()
        self.result = result


class Binding(Struct):
    """The request that a state belongs to. A state is refused with any other request or principal."""

    method: str
    target: str
    arguments: str
    principal: str


class _State(Struct):
    bound_to: Binding
    expires: float
    answers: dict[str, Raw]
    questions: dict[str, str]
    outcomes: dict[str, Raw]
    effects: list[Effect] = []


_decode_state = msgspec.json.Decoder(_State).decode


def bind(method: str, target: str, arguments: Any, principal: Any) -> Binding:
    return Binding(method, target, make_digest(arguments), digest_of_principal(principal))


class RoundTrips:
    """The questions and answers of one request, over all its attempts."""

    def __init__(self, binding: Binding, sealer: Sealer, lifetime: float, effects: list[Effect]) -> None:
        self._binding = binding
        self._sealer = sealer
        self._lifetime = lifetime
        self._answers: dict[str, Raw] = {}
        self._questions: dict[str, str] = {}
        """Digests of the questions so far, by key."""
        self._outcomes: dict[str, Raw] = {}
        self._effects = effects
        """The call's own list: its handler appends to it while it runs."""
        self._open: dict[str, InputRequest] = {}
        self._answered: frozenset[str] = frozenset()
        """Keys of the answers that this attempt brought."""
        self._used: set[str] = set()
        self._waiting: list[asyncio.Future[Any]] = []
        self._ending: BaseException | None = None
        self._is_resumed = False

    def resume(self, responses: Raw | UnsetType, state: str | UnsetType) -> None:
        """Read the state and the answers that came with the request. Middleware may have done so before.

        Raises:
            RpcError: the state was not sealed here, or for another request; or the responses are malformed.
        """
        if self._is_resumed:
            return
        self._is_resumed = True
        if not isinstance(state, UnsetType):
            self._unseal(state)
        if not isinstance(responses, UnsetType):
            answers = _read_responses(responses)
            if not isinstance(state, UnsetType):  # without a state, nothing says what was asked
                answers = {key: answer for key, answer in answers.items() if key in self._questions}
                self._answered = frozenset(answers)
            self._answers |= answers

    def _unseal(self, sealed: str) -> None:
        try:
            state = _decode_state(self._sealer.open(sealed))
        except Exception:  # a custom sealer may raise anything; all of it means the same
            raise RpcError(
                INVALID_PARAMS, "requestState was changed, or does not come from this server"
            ) from None
        if state.bound_to != self._binding:
            raise RpcError(INVALID_PARAMS, "requestState belongs to another request")
        if state.expires < time.time():
            raise RpcError(INVALID_PARAMS, "requestState has expired: send the request anew")
        self._answers, self._questions, self._outcomes = state.answers, state.questions, state.outcomes
        self._effects.extend(state.effects)

    async def ask(self, request: InputRequest, read: Any, key: str | None) -> Any:
        """Return the client's answer as `read` decodes it. Without a valid one, the handler ends here and
        the question goes to the client."""
        digest = make_digest({"method": request.method, "params": request.params})
        key = key or self._name(digest)
        self._used.add(key)
        if key in self._answers:
            if self._questions.get(key, digest) != digest:
                raise _question_changed(key)
            try:
                answer = read(self._answers[key])
            except AskError:
                del self._answers[key]  # an answer that does not fit counts as missing: ask again
            else:
                self._questions[key] = digest
                return answer
        return await self._wait(key, digest, request)

    def _name(self, digest: str) -> str:
        """The key of a question without one: that of the same question in an earlier attempt, else a new one.

        Not its position among all questions: those asked concurrently come in another order once some of
        them are answered.
        """
        earlier = (
            key for key, known in self._questions.items() if known == digest and key.startswith(UNNAMED)
        )
        unused = (key for key in earlier if key not in self._used)
        fresh = (key for number in count(1) if (key := f"{UNNAMED}{number}") not in self._questions)
        return next(unused, None) or next(fresh)

    async def _wait(self, key: str, digest: str, request: InputRequest) -> Any:
        if self._ending is not None:
            raise self._ending  # too late: the other questions have been sent
        if key in self._open:
            raise RpcError(INTERNAL_ERROR, f"two questions under one key: {key!r}")
        self._open[key] = request
        self._questions[key] = digest
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Any] = loop.create_future()
        if not self._waiting:
            # Two turns of the loop: by then, questions that a handler asks concurrently are all open.
            loop.call_soon(loop.call_soon, self._end)
        self._waiting.append(waiting)
        return await waiting

    def _end(self) -> None:
        if self._answered and not self._answered & self._used:
            # No attempt uses the answers to the one before it: asking again would never end.
            self._ending = _question_changed(min(self._answered))
        else:
            self._ending = InputNeeded(InputRequired(self._open, self._seal()))
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(self._ending)

    def _seal(self) -> str:
        expires = time.time() + self._lifetime
        answers = {key: answer for key, answer in self._answers.items() if key in self._questions}
        questions = {
            key: digest for key, digest in self._questions.items() if key in answers or key in self._open
        }
        state = _State(self._binding, expires, answers, questions, self._outcomes, list(self._effects))
        return self._sealer.seal(encode(state))

    def outcome(self, key: str) -> Raw | None:
        """What `store_outcome` stored in this attempt or an earlier one."""
        return self._outcomes.get(key)

    def store_outcome(self, key: str, value: Any) -> None:
        self._outcomes[key] = Raw(encode(value))


def _question_changed(key: str) -> RpcError:
    return RpcError(
        INTERNAL_ERROR,
        f"the handler asked something else than what was answered under {key!r}: "
        "what it asks may depend only on its arguments and on earlier answers",
    )


def _read_responses(responses: Raw) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(responses, type=dict[str, Raw])
    except msgspec.DecodeError as error:
        raise RpcError(INVALID_PARAMS, f"invalid inputResponses: {error}") from None


def find_input_needed(error: BaseException) -> InputNeeded | None:
    """The `InputNeeded` that ended a handler, also from inside its task groups."""
    if isinstance(error, InputNeeded):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(find_input_needed, error.exceptions)), None)
    return None
