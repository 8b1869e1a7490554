"""Assay: build MCP servers, then prove them.

The public names are imported on first use, so that importing the package stays cheap. `__init__.pyi` declares
them for type checkers and editors; a test keeps the two lists equal.
"""

from importlib import import_module

from assay.model.version import VERSION

_NAMES_BY_MODULE = {
    "assay.client.client": "Client",
    "assay.client.retry": "Retry",
    "assay.client.state": "ClientState StateChange",
    "assay.client.sync_client": "SyncClient",
    "assay.client.target": "Stdio",
    "assay.model.answer": "Elicited Root Sampled",
    "assay.model.client_error": (
        "ClientClosed ClientError ConnectionFailed HttpFailure InvalidAnswer ServerDied ServerError Timeout"
        " ToolFailed"
    ),
    "assay.model.client_limits": "ClientLimits",
    "assay.model.content": "Annotations Audio Contents EmbeddedResource File Icon Image ResourceLink Text",
    "assay.model.definition": (
        "PromptDefinition ResourceDefinition TemplateDefinition ToolAnnotations ToolDefinition"
    ),
    "assay.model.error": (
        "AskError AssayError Busy InsufficientScope LifespanFailed MissingExtra ProcessError"
        " RegistrationError"
        " ResourceNotFound RpcError TlsError ToolError"
    ),
    "assay.model.limits": "Limits",
    "assay.model.notice": "Change LogMessage Progress",
    "assay.model.question": "ElicitationRequest SamplingRequest",
    "assay.model.result": "Cache Completion Message PromptResult ReadResult ToolResult",
    "assay.model.strictness": "Strictness",
    "assay.protocol.middleware": "Ending Middleware",
    "assay.protocol.scope": "Scope",
    "assay.server.calls.child_process": "Completed",
    "assay.server.calls.context": "Context",
    "assay.server.calls.current_context": "current_context",
    "assay.server.handlers.dependency": "Depends",
    "assay.server.handlers.header": "Header",
    "assay.server.middleware.call": "MiddlewareCall Next",
    "assay.server.sealer": "EncryptingSealer",
    "assay.server.server": "Server",
    "assay.transport.asgi.response": "Response",
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}

__all__ = list(_MODULE_OF)
__version__ = VERSION


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
