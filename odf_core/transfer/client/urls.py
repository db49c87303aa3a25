"""URLs as they may be shown, and what tokens belong to."""

from urllib.parse import urlsplit


def origin_of(url: str) -> str:
    """`scheme://host[:port]` of a URL, for messages and for looking up tokens; lower case."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    try:
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        port = ""
    return f"{parts.scheme.lower()}://{host}{port}"


def shown_url(url: str) -> str:
    """A URL as it may stand in a message or log: without its query, which may hold a signature."""
    return url.partition("?")[0]
