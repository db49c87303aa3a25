"""What a source's definition would do that a policy forbids, as far as the definition alone shows it.

Names of hosts are looked up by the fetch, which holds every address against the policy.
"""

import ipaddress
from urllib.parse import urlsplit

from odf_core.ingest.fetch.policy import FetchPolicy, Permission
from odf_core.metadata import MetadataEvent, SetPollingSource
from odf_core.metadata.sources import (
    FetchStep,
    FetchStepContainer,
    FetchStepFilesGlob,
    FetchStepMqtt,
    FetchStepUrl,
    PrepStepPipe,
)


def require_allowed(event: MetadataEvent, policy: FetchPolicy) -> None:
    """Raises `FetchNotAllowed` for a polling source that `policy` would never let run."""
    if not isinstance(event, SetPollingSource):
        return
    _require_fetch(event.fetch, policy)
    for step in event.prepare or ():
        if isinstance(step, PrepStepPipe):
            policy.require(Permission.PIPE, "Running commands of a manifest (pipe)")


def _require_fetch(step: FetchStep, policy: FetchPolicy) -> None:
    match step:
        case FetchStepContainer():
            policy.require(Permission.CONTAINER, "Running containers of a manifest")
        case FetchStepFilesGlob():
            policy.require(Permission.FILES_GLOB, "Fetching files of this machine (filesGlob)")
        case FetchStepMqtt():
            policy.require(Permission.MQTT, "Listening to an MQTT broker")
        case FetchStepUrl():
            _require_url(step.url, policy)


def _require_url(url: str, policy: FetchPolicy) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return  # the fetch tells what is wrong with it
    if parts.scheme.lower() == "file":
        policy.require(Permission.FILE, "Fetching a file of this machine")
    if host is None:
        return
    name = host.rstrip(".").lower()
    local = name == "localhost" or name.endswith(".localhost")
    try:
        address = ipaddress.ip_address("127.0.0.1" if local else name.strip("[]"))
    except ValueError:
        return
    policy.require_address(address, host)
