"""One dataset of a workspace: its folder, its name here, and the addresses it came from and goes to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odf_core.identity import DatasetAlias, DatasetId, Multihash
from odf_core.limits import Limits
from odf_core.transfer.client.durable import write_atomically
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.workspace.errors import WorkspaceUnreadable
from odf_core.workspace.files import read_mapping, text_list, write_mapping
from odf_core.workspace.lock import exclusive

_CONFIG_KIND = "DatasetConfig"
_ALIAS_BYTES = 1024


@dataclass(frozen=True, slots=True)
class RemoteAliases:
    """Addresses that `odf pull` and `odf push` of a dataset use when none is said."""

    pull: tuple[str, ...] = ()
    push: tuple[str, ...] = ()


class LocalDataset:
    """A dataset below `datasets/` of a workspace, found by its id; `locks` is the folder of locks."""

    def __init__(self, dataset_id: DatasetId, path: Path, locks: Path, limits: Limits) -> None:
        self.id = dataset_id
        self.folder = DatasetFolder(path, limits)
        self._locks = locks

    @property
    def path(self) -> Path:
        return self.folder.path

    @property
    def head(self) -> Multihash | None:
        """The head; None: the dataset does not exist yet, or a first pull was broken off."""
        return self.folder.head()

    @property
    def alias(self) -> DatasetAlias | None:
        """The name of the dataset here; None for one that is only being made."""
        try:
            with self._alias_path.open("rb") as file:
                text = file.read(_ALIAS_BYTES).decode()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise WorkspaceUnreadable(f"{self._alias_path} cannot be read.", objects=[self.path]) from error
        return DatasetAlias.parse(text.strip())

    @alias.setter
    def alias(self, alias: DatasetAlias) -> None:
        self._alias_path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._alias_path, str(alias).encode(), durable=True)

    @property
    def remotes(self) -> RemoteAliases:
        """The saved addresses (metadata.md 4: `info/config`)."""
        content = self._config().get("content") or {}
        return RemoteAliases(
            text_list(content.get("pullAliases"), self._config_path),
            text_list(content.get("pushAliases"), self._config_path),
        )

    def remember(self, *, pull: str | None = None, push: str | None = None) -> None:
        """Save an address that worked, unless it is saved already."""
        old = self.remotes
        new = RemoteAliases(_with(old.pull, pull), _with(old.push, push))
        if new == old:
            return
        content = {"pullAliases": list(new.pull), "pushAliases": list(new.push)}
        kept = {name: value for name, value in content.items() if value}
        write_mapping(self._config_path, {"kind": _CONFIG_KIND, "version": 1, "content": kept})

    @contextmanager
    def lock(self, patience: float = 2.0) -> Iterator[None]:
        """Keep other commands from changing the dataset; raises `DatasetBusy` after `patience` seconds."""
        with exclusive(self._locks / f"{self.id.multibase}.lock", what=self._shown(), patience=patience):
            yield

    def _shown(self) -> object:
        return self.alias or self.id

    @property
    def _alias_path(self) -> Path:
        return self.path / "info" / "alias"

    @property
    def _config_path(self) -> Path:
        return self.path / "info" / "config"

    def _config(self) -> dict[str, Any]:
        config = read_mapping(self._config_path)
        if config and (config.get("kind") != _CONFIG_KIND or not isinstance(config.get("content"), dict)):
            raise WorkspaceUnreadable(
                f"{self._config_path} is no {_CONFIG_KIND}.", objects=[self._config_path]
            )
        return config


def _with(known: tuple[str, ...], added: str | None) -> tuple[str, ...]:
    return known if added is None or added in known else (*known, added)
