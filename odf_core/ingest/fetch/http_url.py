"""An `http(s)` URL taken apart for a request."""

import base64
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin, urlsplit

from odf_core.ingest.errors import InvalidFetchStep
from odf_core.ingest.words import shown

_PORTS = {"http": 80, "https": 443}
_KEEP = "!#$%&'()*+,/:;=?@[]~"
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


@dataclass(frozen=True, slots=True)
class HttpUrl:
    """Where to connect and what to ask for; `authorization` is that of `user:password@` in the URL."""

    scheme: str
    host: str
    port: int
    target: str
    authorization: str | None = None

    @classmethod
    def parse(cls, text: str) -> "HttpUrl":
        """Raises `InvalidFetchStep`; its message has nothing of the URL, which may hold secrets."""
        try:
            if _CONTROL.search(text):
                raise ValueError("it has a space or control character")
            parts = urlsplit(text)
            if parts.scheme not in _PORTS or not parts.hostname:
                raise ValueError("it has no scheme http or https, or no host")
            host = parts.hostname if ":" in parts.hostname else parts.hostname.encode("idna").decode()
            port = _PORTS[parts.scheme] if parts.port is None else parts.port
            target = quote(parts.path or "/", safe=_KEEP)
            if parts.query:
                target += "?" + quote(parts.query, safe=_KEEP)
        except ValueError as error:  # UnicodeError of a bad host is one too
            raise InvalidFetchStep(f"This is no URL that can be fetched: {shown(str(error))}.") from error
        return cls(parts.scheme, host, port, target, _basic(parts.username, parts.password))

    def follow(self, location: str) -> "HttpUrl":
        """The URL that a redirect from this one leads to. Raises `InvalidFetchStep`."""
        try:
            plain = quote(location.encode("latin-1", "replace"), safe=_KEEP)  # bytes, as header values are
            return HttpUrl.parse(urljoin(f"{self.origin}{self.target}", plain))
        except ValueError as error:
            raise InvalidFetchStep(f"This is no URL that can be fetched: {error}.") from error

    @property
    def host_header(self) -> str:
        """The host, with the port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """`scheme://host[:port]`."""
        return f"{self.scheme}://{self.host_header}"

    @property
    def path(self) -> str:
        """The path in plain characters, without the query."""
        return unquote(self.target.partition("?")[0])


def shown_url(text: str) -> str:
    """A URL as it may stand in a message: without user, password and query, which may be secret."""
    head, separator, rest = text.partition("://")
    rest = rest.partition("?")[0].partition("#")[0]
    authority, slash, path = rest.partition("/")
    return shown(f"{head}{separator}{authority.rpartition('@')[2]}{slash}{path}", 500)


def _basic(user: str | None, password: str | None) -> str | None:
    if user is None and password is None:
        return None
    pair = f"{unquote(user or '')}:{unquote(password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
