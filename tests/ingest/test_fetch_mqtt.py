"""Messages of a real mosquitto, and of a broker that misbehaves."""

import dataclasses
import shutil
import socket
import subprocess
import threading
import time

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from odf_core.ingest.errors import (
    FetchNotAllowed,
    InvalidFetchStep,
    SourceTimedOut,
    SourceTooLarge,
    SourceUnreachable,
)
from odf_core.ingest.fetch import FetchPolicy, UpToDate, fetch
from odf_core.metadata.enums import MqttQos
from odf_core.metadata.sources import FetchStepMqtt, MqttTopicSubscription
from tests.ingest.fetching import context_in, left_over

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """Port of a broker that knows the user `me` with the password `pw`, and anonymous ones."""
    if MOSQUITTO is None:
        pytest.skip("no mosquitto on this machine")
    folder = tmp_path_factory.mktemp("mosquitto")
    folder.chmod(0o755)
    port = free_port()
    config = folder / "mosquitto.conf"
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "user root", "max_queued_messages 0"]
    if maker := shutil.which("mosquitto_passwd"):
        subprocess.run([maker, "-b", "-c", folder / "users", "me", "pw"], check=True, capture_output=True)
        lines.append(f"password_file {folder / 'users'}")
    config.write_text("\n".join(lines) + "\n")
    process = subprocess.Popen(
        [MOSQUITTO, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: can_connect(port))
        yield port
    finally:
        process.terminate()
        process.wait()


def can_connect(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(happened):
    until = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def publish(port, topic, payloads, *, qos=1, retain=False):
    client = Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    for sent in [client.publish(topic, payload, qos=qos, retain=retain) for payload in payloads]:
        sent.wait_for_publish(20)
    client.disconnect()
    client.loop_stop()


def step(port, *topics, qos=MqttQos.AT_LEAST_ONCE, **more):
    subscriptions = tuple(MqttTopicSubscription(path=topic, qos=qos) for topic in topics)
    return FetchStepMqtt(host="127.0.0.1", port=port, topics=subscriptions, **more)


@pytest.fixture
def context(tmp_path):
    context = context_in(tmp_path, mqtt_idle_timeout=0.5)
    return dataclasses.replace(context, dataset=f"did:odf:{tmp_path}")


def test_silence_is_up_to_date(broker, context):
    assert fetch(step(broker, "nothing/#"), None, context) == UpToDate()
    assert left_over(context) == []


def test_a_retained_message_is_fetched_by_anybody(broker, tmp_path, context):
    publish(broker, "kept", ['{"a": 1}'], retain=True)
    fetched = fetch(step(broker, "kept", qos=None), None, dataclasses.replace(context, dataset=None))
    assert fetched.path.read_bytes() == b'{"a": 1}'
    assert (fetched.source_state, fetched.event_time, fetched.has_more) == (None, None, False)


@pytest.mark.parametrize("qos", [MqttQos.AT_LEAST_ONCE, MqttQos.EXACTLY_ONCE])
def test_messages_between_polls_come_once_and_in_order(broker, context, qos):
    source = step(broker, f"log{qos.value}/#", qos=qos)
    assert fetch(source, None, context) == UpToDate()
    expected = [f'{{"n": {n}}}' for n in range(500)]
    publish(broker, f"log{qos.value}/x", expected, qos=qos.value)
    assert fetch(source, None, context).path.read_text() == " ".join(expected)
    assert fetch(source, None, context) == UpToDate()


@pytest.mark.parametrize("qos", [MqttQos.AT_LEAST_ONCE, MqttQos.EXACTLY_ONCE])
def test_what_is_more_than_the_limit_comes_with_the_next_poll(broker, tmp_path, context, qos):
    options = dataclasses.replace(context.options, mqtt_max_records=100)
    limited = dataclasses.replace(context, options=options)
    source = step(broker, f"much{qos.value}", qos=qos)
    assert fetch(source, None, limited) == UpToDate()
    expected = [str(n) for n in range(330)]
    publish(broker, f"much{qos.value}", expected, qos=qos.value)
    got, more, rounds = [], True, 0
    while more:
        fetched = fetch(source, None, limited)
        if isinstance(fetched, UpToDate):
            break
        got += fetched.path.read_text().split()
        more = fetched.has_more
        rounds += 1
    assert got == expected
    assert rounds == 4


def test_bytes_are_bounded_too(broker, context):
    source = step(broker, "big")
    small = dataclasses.replace(context, options=dataclasses.replace(context.options, max_bytes=700))
    assert fetch(source, None, small) == UpToDate()
    publish(broker, "big", ["x" * 300, "y" * 300, "z" * 300])
    first = fetch(source, None, small)
    assert (first.path.read_text(), first.has_more) == ("x" * 300 + " " + "y" * 300, True)
    assert fetch(source, None, small).path.read_text() == "z" * 300
    publish(broker, "big", ["x" * 1000])
    with pytest.raises(SourceTooLarge):
        fetch(source, None, small)


def test_logins(broker, context):
    if shutil.which("mosquitto_passwd") is None:
        pytest.skip("no mosquitto_passwd on this machine")
    variables = dataclasses.replace(context, environment={"PW": "pw"})
    assert fetch(step(broker, "a", username="me", password="${{ env.PW }}"), None, variables) == UpToDate()
    with pytest.raises(SourceUnreachable, match="Not authorized"):
        fetch(step(broker, "a", username="me", password="wrong"), None, context)


def test_steps_that_name_nothing(context):
    for bad in (step(0, "a"), step(1883), step(70000, "a")):
        with pytest.raises(InvalidFetchStep, match="mqtt"):
            fetch(bad, None, context)


def test_a_topic_that_is_none(broker, context):
    for topic in ("a/#/b", "", "x" * 70_000):
        with pytest.raises(SourceUnreachable, match=r"topic|refuses|closed"):
            fetch(step(broker, topic), None, context)
    assert left_over(context) == []


def test_a_node_asks_no_broker_unless_allowed(broker, context):
    for allow, words in (([], "'mqtt' in"), (["mqtt"], "'network:127.0.0.1/32' in")):
        with pytest.raises(FetchNotAllowed, match=words):
            fetch(step(broker, "a"), None, dataclasses.replace(context, policy=FetchPolicy.node(allow)))
    allowed = FetchPolicy.node(["mqtt", "network:127.0.0.0/8"])
    assert fetch(step(broker, "a"), None, dataclasses.replace(context, policy=allowed)) == UpToDate()


@pytest.fixture
def listener():
    """Answers every connection with what the test puts into it, then waits."""
    answers = []
    done = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            with peer:
                peer.recv(1000)
                if answers == ["close"]:
                    continue
                for answer in answers:
                    peer.sendall(answer)
                done.wait(10)

    threading.Thread(target=serve, daemon=True).start()
    yield listening.getsockname()[1], answers
    done.set()
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def test_a_broker_that_says_nothing(context, listener):
    quick = dataclasses.replace(context, options=dataclasses.replace(context.options, read_timeout=0.5))
    with pytest.raises(SourceTimedOut, match="no subscription within"):
        fetch(step(listener[0], "a"), None, quick)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\n\r\n", b"\x20\xff\xff\xff\xff\xff\xff", "close"])
def test_what_is_no_broker(context, listener, answer):
    listener[1].append(answer)
    quick = dataclasses.replace(context, options=dataclasses.replace(context.options, read_timeout=0.5))
    with pytest.raises((SourceUnreachable, SourceTimedOut)):
        fetch(step(listener[0], "a"), None, quick)
    assert left_over(context) == []


def test_nobody_at_home(context):
    with pytest.raises(SourceUnreachable, match="takes no connection"):
        fetch(step(free_port(), "a"), None, context)
