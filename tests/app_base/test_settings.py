"""Settings: where they come from, what is refused, and that their page is up to date."""

from pathlib import Path

import pytest

from app import settings_docs
from app.settings import Settings, SettingsInvalid, load_settings


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.upper().startswith("ODF_"):
            monkeypatch.delenv(name)


def test_order_of_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "node.toml"
    file.write_text('tenancy = "single"\n[http]\nhost = "file"\nport = 1\n[limits]\nblock_bytes = 5\n')
    monkeypatch.setenv("ODF_HTTP__PORT", "2")
    monkeypatch.setenv("ODF_CONFIG", str(file))
    settings = load_settings(transfer={"mode": "proxied"})
    assert settings.tenancy == "single"
    assert (settings.http.host, settings.http.port) == ("file", 2)
    assert settings.limits.block_bytes == 5
    assert settings.transfer.mode == "proxied"
    assert load_settings(file, http={"port": 3}).http.port == 3


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("ODF_HTTP__PROT", "1", "http.prot: there is no such setting"),
        ("ODF_TENANCI", "multi", "ODF_TENANCI names no setting"),
        ("ODF_HTP__PORT", "1", "ODF_HTP__PORT names no setting"),
        ("ODF_HTTP__PORT", "70000", "http.port"),
        ("ODF_HTTP__PUBLIC_URL", "https://host/path", "without a path"),
        ("ODF_HTTP__PUBLIC_URL", "ftp://host", "without a path"),
        ("ODF_S3__ENDPOINT", "localhost:9000", "http://"),
        ("ODF_S3__PREFIX", "a/../b", "folder"),
        ("ODF_TENANCY", "both", "tenancy"),
        ("ODF_ACCOUNTS__DEFAULT_ACCOUNT", "not a name", "accounts.default_account"),
        ("ODF_HTTP", "port=1", "http"),
    ],
)
def test_refusals_are_sentences(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, complaint: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as caught:
        load_settings()
    assert complaint in caught.value.message
    assert caught.value.message.endswith(".")


def test_unknown_names_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "node.toml"
    file.write_text("[s3]\nbukket = 'x'\n")
    with pytest.raises(SettingsInvalid, match=r"s3\.bukket: there is no such setting"):
        load_settings(file)
    file.write_text("[s3\n")
    with pytest.raises(SettingsInvalid, match="not TOML"):
        load_settings(file)
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        load_settings(tmp_path / "absent.toml")


def test_secrets_stay_out_of_errors_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODF_S3__SECRET_ACCESS_KEY", "hush-hush")
    monkeypatch.setenv("ODF_DATABASE__URL", "postgresql://u:hush-hush@h/d")
    settings = load_settings()
    assert "hush-hush" not in repr(settings)
    assert "hush-hush" not in settings.model_dump_json()
    monkeypatch.setenv("ODF_S3__REGION", "")
    with pytest.raises(SettingsInvalid) as caught:
        load_settings()
    assert "hush-hush" not in str(caught.value.diagnostics())
    assert caught.value.__cause__ is None


def test_variables_of_the_client_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODF_WORKSPACE", "/somewhere")
    monkeypatch.setenv("ODF_TEST_SEED", "1")
    assert load_settings().model_dump() == Settings().model_dump()


def test_prefix_and_origins_are_brought_into_form() -> None:
    settings = load_settings(s3={"prefix": "/a/b/"}, http={"public_url": "https://h:1/"})
    assert settings.s3.prefix == "a/b/"
    assert settings.http.public_url == "https://h:1"


def test_the_page_of_settings_is_up_to_date() -> None:
    assert settings_docs.main(["--check"]) == 0, "run: python -m app.settings_docs"


def test_every_setting_is_described() -> None:
    page = settings_docs.render()
    for name, field in Settings.model_fields.items():
        group = settings_docs._group_of(field)
        for setting, described in ({name: field} if group is None else group.model_fields).items():
            assert described.description, f"{name}.{setting}"
            assert f"`{setting}`<br>" in page
