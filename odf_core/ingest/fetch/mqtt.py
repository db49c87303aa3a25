"""Messages of an MQTT broker, until it is silent or there are enough (data.md 3.1).

The broker keeps the session between polls, and with it the messages that came meanwhile, those of quality 0
excepted. A message is acknowledged when it is in the file; one beyond the limits is not, and comes again.
For that, "exactly once" is asked for as "at least once": the second half of its handshake comes after the
broker has forgotten the message, which would be lost with the process. So a message comes twice when the
connection breaks between file and acknowledgement, and never not at all.
"""

import hashlib
import time
from collections.abc import Sequence
from typing import Any

from paho.mqtt.client import MQTT_ERR_SUCCESS, Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from odf_core.ingest.errors import InvalidFetchStep, SourceTimedOut, SourceUnreachable
from odf_core.ingest.fetch.policy import Permission
from odf_core.ingest.fetch.resolve import resolve
from odf_core.ingest.fetch.spool import Spool, spooled
from odf_core.ingest.fetch.templates import expand
from odf_core.ingest.fetch.values import FetchContext, Fetched, UpToDate
from odf_core.ingest.words import shown
from odf_core.metadata.enums import MqttQos
from odf_core.metadata.sources import FetchStepMqtt

_DRAIN_FACTOR = 5  # longest wait for a broker to fall silent before the end, in idle timeouts
_LOOK_SECONDS = 0.1
_SEPARATOR = b" "


def fetch_mqtt(step: FetchStepMqtt, context: FetchContext) -> Fetched | UpToDate:
    """Payloads joined by spaces; up to date when none came. Such a source has no state.

    Raises `FetchNotAllowed`, `SourceUnreachable`, `SourceTimedOut`, `InvalidFetchStep`.
    """
    context.policy.require(Permission.MQTT, "Fetching from an MQTT broker")
    if not step.topics or not 0 < step.port < 65536 or not step.host:
        raise InvalidFetchStep("The `mqtt` fetch step names no host, no port from 1 to 65535, or no topics.")
    source = f"mqtt://{step.host}:{step.port}"
    with spooled(source, context) as spool:
        session = _Session(step, spool, source, context)
        session.run()
    if not session.records:
        spool.path.unlink(missing_ok=True)
        return UpToDate()
    return Fetched(
        path=spool.path, size=spool.size, source_state=None, event_time=None, has_more=session.full
    )


class _Session:
    """One connection to the broker; the client calls back from within `run`, in the same thread."""

    def __init__(self, step: FetchStepMqtt, spool: Spool, source: str, context: FetchContext) -> None:
        self.records = 0
        self.full = False
        self._step = step
        self._spool = spool
        self._source = source
        self._context = context
        self._topics = [
            (topic.path, int(topic.qos not in (None, MqttQos.AT_MOST_ONCE))) for topic in step.topics
        ]
        self._subscribed = False
        self._refusal: str | None = None
        self._last_news = self._full_since = time.monotonic()
        self._client = self._make_client()

    def run(self) -> None:
        """Connects, subscribes and takes messages until silence or a limit."""
        options = self._context.options
        deadline = time.monotonic() + options.total_timeout
        self._connect()
        try:
            while not self._is_over() and time.monotonic() < deadline:
                lost = self._client.loop(_LOOK_SECONDS) != MQTT_ERR_SUCCESS
                if self._refusal is not None:
                    raise SourceUnreachable(f"{self._source} refuses: {shown(self._refusal)}.")
                if lost and self.records:
                    return  # what is acknowledged never comes again: keep it
                if lost:
                    raise SourceUnreachable(f"{self._source} has closed the connection.")
            if not self._subscribed:
                raise SourceTimedOut(
                    f"{self._source} took no subscription within {options.read_timeout:g} s."
                )
        finally:
            self._client.disconnect()

    def _make_client(self) -> Client:
        dataset = self._context.dataset
        told = f"{dataset}/{self._context.source_name}".encode()
        client = Client(
            CallbackAPIVersion.VERSION2,
            # 23 characters are what every broker takes.
            client_id="" if dataset is None else f"odf-ingest-{hashlib.sha3_256(told).hexdigest()[:12]}",
            clean_session=dataset is None,
            manual_ack=True,
            reconnect_on_failure=False,
        )
        client.connect_timeout = self._context.options.connect_timeout
        if self._step.username is not None:
            user = expand(self._step.username, self._context, "username")
            client.username_pw_set(user, expand(self._step.password or "", self._context, "password"))
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        return client

    def _connect(self) -> None:
        trouble: OSError | None = None
        for address in resolve(self._step.host, self._step.port, self._context):
            try:
                self._client.connect(str(address), self._step.port)
            except OSError as error:
                trouble = error
            else:
                return
        raise SourceUnreachable(f"{self._source} takes no connection: {trouble}.") from trouble

    def _is_over(self) -> bool:
        options = self._context.options
        silence = time.monotonic() - self._last_news
        if not self._subscribed:
            return silence > options.read_timeout
        # Closing a connection that still has messages to read can take the acknowledgements away. Without
        # further ones the broker falls silent: only so many may be under way.
        drained = (
            self.full and time.monotonic() - self._full_since > _DRAIN_FACTOR * options.mqtt_idle_timeout
        )
        return silence > options.mqtt_idle_timeout or drained

    def _on_connect(self, client: Client, _data: Any, _flags: Any, reason: ReasonCode, _more: Any) -> None:
        if reason.is_failure:
            self._refusal = str(reason)
            return
        try:
            client.subscribe(self._topics)
        except ValueError as error:
            self._refusal = f"a topic of the fetch step is none ({error})"

    def _on_subscribe(
        self, _client: Client, _data: Any, _mid: int, reasons: Sequence[ReasonCode], _more: Any
    ) -> None:
        if failed := [str(reason) for reason in reasons if reason.is_failure]:
            self._refusal = f"a subscription ({failed[0]})"
        self._subscribed = True
        self._last_news = time.monotonic()

    def _on_message(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        self._last_news = time.monotonic()
        options = self._context.options
        payload = (_SEPARATOR if self.records else b"") + bytes(message.payload)
        if not self.full and (
            self.records >= options.mqtt_max_records
            or (self.records and self._spool.size + len(payload) > options.max_bytes)
        ):
            self.full, self._full_since = True, self._last_news
        if self.full:
            return
        self._spool.write(payload)
        self.records += 1
        self._client.ack(message.mid, message.qos)
