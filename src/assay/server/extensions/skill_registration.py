"""`Server.skills`. What it needs is imported when it is called: few servers have skills."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, cast

from assay.server.components.resource import Access

if TYPE_CHECKING:
    from .skills import SkillFolder, SkillHost


class SkillRegistration:
    """Base of `Server`."""

    def skills(
        self,
        folder: str | PathLike[str],
        *,
        prefix: str = "",
        watch: bool = False,
        scopes: Sequence[str] = (),
        access: Access | None = None,
    ) -> SkillFolder:
        """Publish a folder of skills: folders with a `SKILL.md`, at any depth, and their files.

            server.skills("skills")

        Clients list them with `skills/list` and read their files as resources `skill://<path>/<file>`. Files
        are read when this is called, and held in memory. Hidden files and links are left out.

        Args:
            folder: A folder with folders of skills, or the folder of one skill.
            prefix: What the URIs begin with after `skill://`, such as `acme/billing`.
            watch: Publish changes of the files while the server runs, and notify clients.
            scopes: Scopes that callers need to list and read them.
            access: Decides who may read them: a function of the URI and the `Scope`.

        Returns:
            The published skills; `reload()` reads the folder again.

        Raises:
            RegistrationError: there is no skill, one is invalid or too large, or a URI is taken.
            MissingExtra: PyYAML is not installed, or for `watch` watchfiles.
        """
        from .skills import publish_skills

        host = cast("SkillHost", self)
        return publish_skills(host, folder, prefix=prefix, watch=watch, scopes=scopes, access=access)
