"""Asking by retry: a request that needs answers ends with its questions, and the client sends it again
with the answers. The handler then runs anew and finds the answers it already has.

What must survive between the two is sealed into `requestState` and travels with the client: answers
of earlier rounds, which questions they answer, the outcomes that `ctx.once` keeps, and the effects that
were told: what a handler has done by then stays done.
"""

from __future__ import annotations

import asyncio
import time
from itertools import count
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw, Struct, UnsetType

from assay.model.effect import Effect
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, AskError, RpcError
from assay.model.result import InputRequest, InputRequired
from assay.protocol.codec import encode
from assay.protocol.seal import Sealer

from .call import Call

T = TypeVar("T")
UNNAMED: Final = "question-"
_sorted = msgspec.json.Encoder(order="sorted").encode


class InputNeeded(BaseException):
    """Ends a handler whose questions are not answered yet. Not an `Exception`: a handler that catches
    what can go wrong must not catch this."""

    def __init__(self, result: InputRequired) -> None:
        super().__init__()
        self.result = result


class Binding(Struct):
    """What a state belongs to: it is worth nothing anywhere else."""

    method: str
    target: str
    arguments: str
    principal: str


class _State(Struct):
    bound_to: Binding
    expires: float
    answers: dict[str, Raw]
    asked: dict[str, str]
    outcomes: dict[str, Raw]
    effects: list[Effect] = []


_decode_state = msgspec.json.Decoder(_State).decode


def bind(method: str, target: str, arguments: Any, principal: Any) -> Binding:
    return Binding(method, target, _digest(arguments), "" if principal is None else _digest(principal))


def _digest(value: Any) -> str:
    """A short name for a value, the same in every process. What JSON cannot hold goes by its `str`."""
    try:
        encoded = _sorted(msgspec.json.decode(value) if isinstance(value, Raw) else value)
    except (TypeError, NotImplementedError):
        encoded = str(value).encode()
    from hashlib import blake2s

    return blake2s(encoded, digest_size=12).hexdigest()


class RoundTrips:
    """The questions and answers of one request, over all its rounds."""

    def __init__(self, binding: Binding, sealer: Sealer, lifetime: float, effects: list[Effect]) -> None:
        self._binding = binding
        self._sealer = sealer
        self._lifetime = lifetime
        self._answers: dict[str, Raw] = {}
        self._asked: dict[str, str] = {}
        self._outcomes: dict[str, Raw] = {}
        self._effects = effects
        """Those of the call itself: its handler adds to them while it runs."""
        self._open: dict[str, InputRequest] = {}
        self._given: frozenset[str] = frozenset()
        """Keys of the answers to what the round before has asked."""
        self._used: set[str] = set()
        self._waiting: list[asyncio.Future[Any]] = []
        self._ending: BaseException | None = None

    def resume(self, responses: Raw | UnsetType, state: str | UnsetType) -> None:
        """Take up what the client sent back.

        Raises:
            RpcError: the state is not ours, or not for this request; the responses are no object.
        """
        if not isinstance(state, UnsetType):
            self._unseal(state)
        if not isinstance(responses, UnsetType):
            given = _read_responses(responses)
            if not isinstance(state, UnsetType):  # without one, nothing says what was asked
                given = {key: answer for key, answer in given.items() if key in self._asked}
                self._given = frozenset(given)
            self._answers |= given

    def _unseal(self, sealed: str) -> None:
        try:
            state = _decode_state(self._sealer.open(sealed))
        except Exception:  # whatever a sealer raises, what it could not open is not to be believed
            raise RpcError(
                INVALID_PARAMS, "requestState was changed, or does not come from this server"
            ) from None
        if state.bound_to != self._binding:
            raise RpcError(INVALID_PARAMS, "requestState belongs to another request")
        if state.expires < time.time():
            raise RpcError(INVALID_PARAMS, "requestState has expired: send the request anew")
        self._answers, self._asked, self._outcomes = state.answers, state.asked, state.outcomes
        self._effects.extend(state.effects)

    async def ask(self, request: InputRequest, read: Any, key: str | None) -> Any:
        """The answer, read; without one that fits, the handler ends here and the client is asked."""
        digest = _digest({"method": request.method, "params": request.params})
        key = key or self._name(digest)
        self._used.add(key)
        if key in self._answers:
            if self._asked.get(key, digest) != digest:
                raise _asked_something_else(key)
            try:
                answer = read(self._answers[key])
            except AskError:
                del self._answers[key]  # what does not fit counts as missing: it is asked again
            else:
                self._asked[key] = digest
                return answer
        return await self._wait(key, digest, request)

    def _name(self, digest: str) -> str:
        """A key for a question without one: that of the same question in an earlier round, else a new one.

        Not by its place among all questions: those asked side by side come in another order
        once some of them are answered.
        """
        earlier = (key for key, asked in self._asked.items() if asked == digest and key.startswith(UNNAMED))
        unused = (key for key in earlier if key not in self._used)
        fresh = (key for number in count(1) if (key := f"{UNNAMED}{number}") not in self._asked)
        return next(unused, None) or next(fresh)

    async def _wait(self, key: str, digest: str, request: InputRequest) -> Any:
        if self._ending is not None:
            raise self._ending  # too late: the client has been asked without this one
        if key in self._open:
            raise RpcError(INTERNAL_ERROR, f"two questions under one key: {key!r}")
        self._open[key] = request
        self._asked[key] = digest
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Any] = loop.create_future()
        if not self._waiting:
            # Questions that a handler asks side by side are all on their way by then.
            loop.call_soon(loop.call_soon, self._end)
        self._waiting.append(waiting)
        return await waiting

    def _end(self) -> None:
        if self._given and not self._given & self._used:
            # Asking on would never end: no run finds the answers to what the one before has asked.
            self._ending = _asked_something_else(min(self._given))
        else:
            self._ending = InputNeeded(InputRequired(self._open, self._seal()))
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(self._ending)

    def _seal(self) -> str:
        expires = time.time() + self._lifetime
        answers = {key: answer for key, answer in self._answers.items() if key in self._asked}
        asked = {key: digest for key, digest in self._asked.items() if key in answers or key in self._open}
        state = _State(self._binding, expires, answers, asked, self._outcomes, list(self._effects))
        return self._sealer.seal(encode(state))

    def outcome(self, key: str) -> Raw | None:
        return self._outcomes.get(key)

    def keep(self, key: str, value: Any) -> None:
        self._outcomes[key] = Raw(encode(value))


def open_round_trips(call: Call) -> RoundTrips:
    """The rounds of a call, made at its first question: most calls ask nothing.

    Raises:
        AskError: this is no request that may be answered with a question.
    """
    if call.round_trips is None:
        if call.retry_binding is None:
            raise AskError("the client cannot be asked here: only tools, prompts and resources can")
        binding = bind(*call.retry_binding, call.scope.principal)
        lifetime = call.server.limits.request_state
        call.round_trips = RoundTrips(binding, call.server.sealer, lifetime, call.effect_log())
    return call.round_trips


def _asked_something_else(key: str) -> RpcError:
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
    """The questions that ended a handler, also from inside its task groups."""
    if isinstance(error, InputNeeded):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((found for inner in error.exceptions if (found := find_input_needed(inner))), None)
    return None
