"""Assay: build MCP servers, then prove them.

The public names are imported on first use, so that importing the package stays cheap. `__init__.pyi` declares
them for type checkers and editors; a test keeps the two lists equal.
"""

from assay.model.lazy_names import lazy_names
from assay.model.version import VERSION

_NAMES_BY_MODULE = {
    "assay.client.auth.file_storage": "FileStorage",
    "assay.client.auth.keyring_storage": "KeyringStorage",
    "assay.client.auth.oauth": "OAuth",
    "assay.client.auth.service": "ClientCredentials EnterpriseAuth WorkloadIdentity",
    "assay.client.auth.storage": "MemoryStorage TokenStorage",
    "assay.client.apps": "AppPage",
    "assay.client.changes": "Changes",
    "assay.client.client": "Client",
    "assay.client.retry": "Retry",
    "assay.client.running_call": "RunningCall",
    "assay.client.state": "ClientState StateChange",
    "assay.client.stdio": "Stdio",
    "assay.client.sync_client": "SyncClient",
    "assay.client.task": "RunningTask",
    "assay.extensions.extension": "Extension",
    "assay.model.answer": "Elicited Root Sampled ToolUse ToolUseResult",
    "assay.model.app": "Csp ToolUi",
    "assay.model.client_error": (
        "AuthorizationFailed ClientClosed ClientError ConnectionFailed HttpFailure InvalidAnswer"
        " ServerDied ServerError TaskCancelled Timeout ToolFailed"
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
    "assay.model.skill": "LoadedSkill Skill SkillFile",
    "assay.model.strictness": "Strictness",
    "assay.model.task": "TaskOptions TaskState",
    "assay.protocol.middleware": "Ending Middleware",
    "assay.protocol.scope": "Scope",
    "assay.server.calls.child_process": "Completed",
    "assay.server.calls.context": "Context",
    "assay.server.calls.current_context": "current_context",
    "assay.server.calls.source": "Clock SeededSources Sources SystemSources sources_from",
    "assay.server.extensions.html": "inline_html",
    "assay.server.handlers.dependency": "Depends",
    "assay.server.handlers.header": "Header",
    "assay.server.middleware.call": "MiddlewareCall Next",
    "assay.server.sealer": "EncryptingSealer",
    "assay.server.server": "Server",
    "assay.transport.asgi.response": "Response",
}
__all__, __getattr__, __dir__ = lazy_names(globals(), _NAMES_BY_MODULE)
__version__ = VERSION
