"""Messages of an MQTT broker, until it is silent or there are enough (data.md 3.1).

The broker keeps the session between polls, and with it the messages of quality 1 and 2 that came
meanwhile. A message is acknowledged when it is in the file; one beyond the limits is not, and comes again.
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
from odf_core.metadata.enums import MqttQos
from odf_core.metadata.sources import FetchStepMqtt

_EXACTLY_ONCE = MqttQos.EXACTLY_ONCE.value
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
        self._topics = [(topic.path, topic.qos.value if topic.qos else 0) for topic in step.topics]
        self._subscribed = False
        self._refusal: str | None = None
        self._last_news = time.monotonic()
        self._late_acks: list[tuple[int, int]] = []
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
                    raise SourceUnreachable(f"{self._source} refuses: {self._refusal}.")
                if lost and self.records:
                    return  # what is acknowledged never comes again: keep it
                if lost:
                    raise SourceUnreachable(f"{self._source} has closed the connection.")
            if not self._subscribed:
                raise SourceTimedOut(
                    f"{self._source} took no subscription within {options.read_timeout:g} s."
                )
            self._acknowledge_late()
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
        # What is half delivered with quality 2 cannot be got again: wait for its other half.
        if self.full and all(quality != _EXACTLY_ONCE for _, quality in self._topics):
            return True
        return silence > options.mqtt_idle_timeout

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
        room = options.max_bytes - options.max_bytes // 8  # the rest is for what is half delivered
        self.full = self.full or (self.records > 0 and self._spool.size + len(payload) > room)
        if self.full:
            if message.qos != _EXACTLY_ONCE:
                return
            self._late_acks.append((message.mid, message.qos))
        self._spool.write(payload)
        self.records += 1
        if not self.full:
            self._client.ack(message.mid, message.qos)
            self.full = self.records >= options.mqtt_max_records

    def _acknowledge_late(self) -> None:
        """Held back until now, so that the broker's window of messages under way ran dry."""
        for mid, quality in self._late_acks:
            self._client.ack(mid, quality)
        while self._client.want_write() and self._client.loop(_LOOK_SECONDS) == MQTT_ERR_SUCCESS:
            continue
