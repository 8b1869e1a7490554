"""Middleware in the box, and the types for your own: `server.use(RateLimit(10))`.

`Server.middleware` and `Server.use` add middleware to a server; docs/middleware.md explains it.
"""

from assay.model.listing import PromptList, ResourceList, TemplateList, ToolList
from assay.protocol.middleware import Ending, Middleware
from assay.server.middleware.call import MiddlewareCall, Next, Result

from .concurrency import Concurrency
from .error_masking import ErrorMasking
from .prometheus import Prometheus
from .rate_limit import RateLimit
from .request_log import Logging
from .response_cache import ResponseCache
from .timing import Duration, Timing

__all__ = [
    "Concurrency",
    "Duration",
    "Ending",
    "ErrorMasking",
    "Logging",
    "Middleware",
    "MiddlewareCall",
    "Next",
    "Prometheus",
    "PromptList",
    "RateLimit",
    "ResourceList",
    "ResponseCache",
    "Result",
    "TemplateList",
    "Timing",
    "ToolList",
]
