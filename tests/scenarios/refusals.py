"""A push that has to be refused: this code, this channel, nothing changed, and the next push succeeds."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.dataset_builder import DatasetBuilder
from tests.scenarios.speakers import Push, Speaker, Told, WireRefusal
from tests.scenarios.world import NodeWorld, Person, folder_of

INITIAL, METADATA, OBJECTS = "InitialRequest", "MetadataRequest", "ObjectsRequest"
UPLOADS, COMPLETE = "ObjectsUploadProgress", "CompleteRequest"


@dataclass
class Attempt:
    """Somebody's dataset `foo` and a push of it that will go wrong."""

    world: NodeWorld
    person: Person
    speaker: Speaker
    at: str
    good: DatasetBuilder
    path: Path

    @property
    def is_deployed(self) -> bool:
        return self.speaker.name == "deployed"

    def push(self, dataset: DatasetBuilder | None = None, *, force: bool = False) -> Push:
        """A push of the dataset (the good one unless told otherwise)."""
        chosen = dataset or self.good
        local = folder_of(chosen, self.path / chosen.head[-16:])
        return Push(self.speaker, self.person.remote(self.at), str(chosen.id), local, force)

    @contextmanager
    def refused(self, code: str, phase: str | None, *, channel: str = "close") -> Iterator[list[Told]]:
        """The block meets a refusal, which changes nothing; afterwards the good dataset can be pushed.

        `phase` and `channel` are those of the deployed dialect; the published one has DatasetError always.
        """
        before = self.world.snapshot()
        told: list[Told] = []
        with pytest.raises(WireRefusal) as refused:
            yield told
        told.append(refused.value.told)
        self.check(told[0], code, phase, channel)
        self.world.settle()
        assert self.world.snapshot() == before
        if self.person.remote(self.at).head() == self.good.head:
            self.good.info(f"after {code}")
        self.push().run()
        assert self.person.remote(self.at).head() == self.good.head
        self.world.settle()

    def check(self, told: Told, code: str, phase: str | None, channel: str) -> None:
        assert told.code == code, told
        if self.is_deployed:
            assert (told.channel, told.phase) == (channel, phase), told
        else:
            assert told.channel == "text"
        for word in ("Traceback", 'File "', "psycopg", "sqlalchemy", "botocore"):
            assert word not in str(told.body)
