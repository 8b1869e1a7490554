"""Prompts, with completion of their arguments."""

from __future__ import annotations

from typing import Annotated, Final

from assay import Message, PromptResult, Server, Text

LANGUAGES: Final = (
    "C",
    "C++",
    "Go",
    "Java",
    "JavaScript",
    "Kotlin",
    "PHP",
    "Python",
    "Ruby",
    "Rust",
    "TypeScript",
)


async def code_review(
    code: Annotated[str, "The code to review"],
    language: Annotated[str, "Its programming language"] = "Python",
) -> PromptResult:
    """Asks the LLM to analyze code quality and suggest improvements"""
    text = f"Please review this {language} code:\n{code}"
    return PromptResult([Message("user", Text(text))], "Code review prompt")


async def bug_report(
    summary: Annotated[str, "What goes wrong, in one line"],
    steps: Annotated[str, "How to reproduce it"] = "unknown",
    expected: Annotated[str, "What should happen instead"] = "unknown",
) -> PromptResult:
    """Writes a bug report from notes"""
    known = f"Summary: {summary}\nSteps to reproduce: {steps}\nExpected: {expected}"
    messages = [
        Message("user", Text(f"Write a bug report from these notes.\n\n{known}")),
        Message("assistant", Text("I will write a title, the steps, and the actual and expected behaviour.")),
    ]
    return PromptResult(messages, "Bug report prompt")


async def refactor(
    code: Annotated[str, "The code to refactor"],
    goal: Annotated[str, "What to improve"] = "readability",
    language: Annotated[str, "Its programming language"] = "Python",
) -> PromptResult:
    """Asks the LLM to refactor code without changing its behaviour"""
    text = f"Refactor this {language} code for {goal}, and keep its behaviour:\n{code}"
    return PromptResult([Message("user", Text(text))], "Refactoring prompt")


async def languages() -> tuple[str, ...]:
    """All candidates: the server matches them with the text so far."""
    return LANGUAGES


def register(server: Server) -> None:
    server.prompt(title="Request Code Review", version="1.0.0")(code_review)
    server.prompt(title="File a Bug Report", version="1.0.0")(bug_report)
    server.prompt(title="Request Refactoring", version="1.0.0")(refactor)
    for prompt in ("code_review", "refactor"):
        server.completion(prompt, "language")(languages)
