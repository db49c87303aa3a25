"""Access tokens by origin, in a file that only its owner can read (wire.md 6.1)."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_config_path

from odf_core.transfer.client.urls import origin_of
from odf_core.workspace.files import read_mapping, text_members, write_mapping

HOME_VARIABLE = "ODF_HOME"
"""Names another folder for what belongs to the person and not to a workspace."""


def home_folder() -> Path:
    """`$ODF_HOME`, or the person's configuration folder of the system."""
    named = os.environ.get(HOME_VARIABLE)
    return Path(named) if named else user_config_path("odf", appauthor=False)


class TokenStore:
    """Tokens of the nodes that a person logged in to."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or home_folder() / "tokens.yaml"

    def get(self, url: str) -> str | None:
        """The token for the origin of `url`, which is sent to no other."""
        return self._load().get(origin_key(url))

    def set(self, url: str, token: str) -> str:
        """Keep `token`; returns the origin that it will be sent to."""
        origin = origin_key(url)
        self._save({**self._load(), origin: token})
        return origin

    def remove(self, url: str) -> bool:
        """Forget the token of an origin; False if there was none."""
        tokens = self._load()
        found = tokens.pop(origin_key(url), None) is not None
        if found:
            self._save(tokens)
        return found

    def origins(self) -> list[str]:
        """The origins with a token."""
        return sorted(self._load())

    def _load(self) -> dict[str, str]:
        return text_members(read_mapping(self.path), self.path)

    def _save(self, tokens: dict[str, str]) -> None:
        write_mapping(self.path, dict(tokens), mode=0o600)


def origin_key(url: str) -> str:
    """`scheme://host[:port]` without `odf+` and without the scheme's own port."""
    plain = url[4:] if url.lower().startswith("odf+") else url
    parts = urlsplit(plain)
    default = {"http": 80, "https": 443}.get(parts.scheme.lower())
    origin = origin_of(plain)
    return origin.removesuffix(f":{default}") if parts.port == default and default else origin
