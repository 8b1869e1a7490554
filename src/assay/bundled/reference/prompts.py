"""Prompts: templates that a user picks by name."""

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
    code: Annotated[str, "The code to review"], language: Annotated[str, "What it is written in"] = "Python"
) -> PromptResult:
    """Asks the LLM to analyze code quality and suggest improvements"""
    text = f"Please review this {language} code:\n{code}"
    return PromptResult([Message("user", Text(text))], "Code review prompt")


async def bug_report(
    summary: Annotated[str, "What goes wrong, in one line"],
    steps: Annotated[str, "How to make it happen"] = "unknown",
    expected: Annotated[str, "What should happen instead"] = "unknown",
) -> PromptResult:
    """Writes a bug report from what is known"""
    known = f"Summary: {summary}\nSteps to reproduce: {steps}\nExpected: {expected}"
    messages = [
        Message("user", Text(f"Write a bug report from these notes.\n\n{known}")),
        Message(
            "assistant", Text("I will write it with a title, the steps, and what was seen and expected.")
        ),
    ]
    return PromptResult(messages, "Bug report prompt")


async def refactor(
    code: Annotated[str, "The code to refactor"],
    goal: Annotated[str, "What should become better"] = "readability",
    language: Annotated[str, "What it is written in"] = "Python",
) -> PromptResult:
    """Asks the LLM to refactor code without changing what it does"""
    text = f"Refactor this {language} code for {goal}, and keep what it does:\n{code}"
    return PromptResult([Message("user", Text(text))], "Refactoring prompt")


async def languages() -> tuple[str, ...]:
    """All candidates: the server picks those that fit what was typed."""
    return LANGUAGES


def register(server: Server) -> None:
    server.prompt(title="Request Code Review", version="1.0.0")(code_review)
    server.prompt(title="File a Bug Report", version="1.0.0")(bug_report)
    server.prompt(title="Request Refactoring", version="1.0.0")(refactor)
    for prompt in ("code_review", "refactor"):
        server.completion(prompt, "language")(languages)
