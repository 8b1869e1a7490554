from assay.model.answer import Elicited as Elicited
from assay.model.answer import Root as Root
from assay.model.answer import Sampled as Sampled
from assay.model.content import Annotations as Annotations
from assay.model.content import Audio as Audio
from assay.model.content import Contents as Contents
from assay.model.content import EmbeddedResource as EmbeddedResource
from assay.model.content import Icon as Icon
from assay.model.content import Image as Image
from assay.model.content import ResourceLink as ResourceLink
from assay.model.content import Text as Text
from assay.model.definition import ToolAnnotations as ToolAnnotations
from assay.model.error import AskError as AskError
from assay.model.error import AssayError as AssayError
from assay.model.error import InsufficientScope as InsufficientScope
from assay.model.error import LifespanFailed as LifespanFailed
from assay.model.error import MissingExtra as MissingExtra
from assay.model.error import RegistrationError as RegistrationError
from assay.model.error import ResourceNotFound as ResourceNotFound
from assay.model.error import RpcError as RpcError
from assay.model.error import TlsError as TlsError
from assay.model.error import ToolError as ToolError
from assay.model.limits import Limits as Limits
from assay.model.result import Cache as Cache
from assay.model.result import Completion as Completion
from assay.model.result import Message as Message
from assay.model.result import PromptResult as PromptResult
from assay.model.result import ToolResult as ToolResult
from assay.model.strictness import Strictness as Strictness
from assay.protocol.scope import Scope as Scope
from assay.server.context import Context as Context
from assay.server.dependency import Depends as Depends
from assay.server.header import Header as Header
from assay.server.sealer import EncryptingSealer as EncryptingSealer
from assay.server.server import Server as Server

__all__: list[str]
__version__: str
