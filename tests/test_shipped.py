"""Settings that come with the package."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from agssl import shipped
from agssl.base.errors import SettingsError
from agssl.cli.main import build_parser, main
from agssl.config import Settings, read_toml
from agssl.data.datasets import is_dataset
from agssl.shipped import config_name, find_config, with_config

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def one(name: str, text: str) -> Path:
        path = tmp_path / "configs" / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return one


def test_the_nearest_config_is_found(write: Write) -> None:
    generic, exact = write("cora-agssl", "hidden = 32"), write("cora-agssl-lf", "hidden = 16")
    folder = generic.parent
    assert find_config("cora", Settings(integration="lf"), folder) == exact
    assert find_config("cora", Settings(integration="lf", strategy="pf"), folder) == exact
    assert find_config("cora", Settings(integration="average"), folder) == generic
    own = write("cora-agssl-pf", "hidden = 8")
    assert find_config("cora", Settings(integration="lf", strategy="pf"), folder) == own
    assert find_config("cora", Settings(integration="lf"), folder) == exact
    assert find_config("cora", Settings(method="gcn"), folder) is None
    everything = write("cora", 'feature_norm = "l2"')
    assert find_config("cora", Settings(method="gcn"), folder) == everything
    assert find_config("cora", Settings(integration="lf"), folder) == exact
    assert find_config("citeseer", Settings(), folder) is None
    assert find_config("../configs/cora", Settings(), folder) is None


def test_options_win_over_the_config_and_the_config_over_defaults(write: Write) -> None:
    path = write("cora-agssl-both", 'hidden = 32\nbeta = 3.0\ntasks = ["par", "clu"]\n[alpha]\npar = 5.0\nclu = 1.0')
    values, used = with_config("cora", {"beta": 7.0, "teachers": ("paper",)}, path.parent)
    settings = Settings().replace(**values)
    assert used == path and (settings.hidden, settings.beta, settings.tau) == (32, 7.0, 1.0)
    assert settings.alpha == {"par": 5.0, "clu": 1.0}


def test_alphas_of_tasks_that_are_not_asked_for_are_left_out(write: Write) -> None:
    path = write("cora-agssl-both", 'tasks = ["par", "clu"]\n[alpha]\npar = 5.0\nclu = 1.0')
    for tasks, alpha in ((("clu:clusters=5", "dgi"), {"clu": 1.0}), (("dgi",), None)):
        values, _ = with_config("cora", {"tasks": tasks}, path.parent)
        assert Settings().replace(**values).alpha == alpha
    with pytest.raises(SettingsError, match="task in alpha"):
        Settings().replace(**with_config("cora", {"tasks": ("clu",), "alpha": {"par": 1.0}}, path.parent)[0])


def test_fit_uses_the_shipped_config_and_says_so(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    folder = write("digits-gcn", "hidden = 4\nepochs = 2").parent
    monkeypatch.setattr(shipped.find_config, "__defaults__", (folder,))
    monkeypatch.setattr(shipped.with_config, "__defaults__", (folder,))
    for more, hidden, said in (
        ((), 4, True),
        (("--hidden", "5"), 5, True),
        (("--no-config", "--epochs", "2"), 64, False),
    ):
        assert main(["fit", "digits", "--method", "gcn", "--overwrite", "--out", str(tmp_path / "run"), *more]) == 0
        assert ("settings from digits-gcn.toml" in capfd.readouterr().err) == said
        assert read_toml(tmp_path / "run" / "config.toml", ("split", "seeds"))["hidden"] == hidden
        about = json.loads((tmp_path / "run" / "run.json").read_text())
        assert about["config"] == ("shipped:digits-gcn.toml" if said else None)


def test_every_shipped_config_can_be_read_and_says_what_made_it() -> None:
    for path in shipped.FOLDER.glob("*.toml"):
        text = path.read_text()
        assert text.startswith("# made by: agssl tune ") and "seeds" in text and "trials" in text, path.name
        settings = Settings().replace(**read_toml(path))
        ends = [i for i, c in enumerate(f"{path.stem}-") if c == "-"]
        dataset = next(path.stem[:i] for i in ends if is_dataset(path.stem[:i]))
        assert find_config(dataset, settings) == path
        for line in text.splitlines():
            if line.startswith("# made by: agssl "):  # a command that can be given again
                args = build_parser().parse_args(shlex.split(line)[4:])
                assert args.graph == dataset and Path(args.config or path).name == path.name
    assert config_name("cora", Settings(method="gcn")) == "cora-gcn"
