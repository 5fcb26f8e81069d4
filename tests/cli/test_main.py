"""What holds for every command: help, exit codes, streams."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agssl import __version__
from agssl.cli import data as data_command
from agssl.cli.main import main

HEAVY = "{'torch', 'numpy', 'scipy', 'sklearn', 'pyarrow', 'rich'}"


def test_help_is_quick_because_it_imports_nothing_heavy() -> None:
    code = f"import sys; from agssl.cli.main import main; main(['--help']); print({HEAVY} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("command", [[], ["data"], ["list"], ["fit"], ["predict"], ["explain"], ["embed"]])
def test_every_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert f"  agssl {' '.join(command)}" in capsys.readouterr().out.split("example")[1]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"agssl {__version__}\n"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "required: COMMAND"),
        (["fitt", "cora"], "'fitt'"),
        (["fit"], "required: GRAPH"),
        (["fit", "digits", "--hiden", "3"], "did you mean --hidden"),
        (["fit", "digits", "--hid", "3"], "unknown argument '--hid'"),
        (["fit", "digits", "--hidden", "wide"], "--hidden"),
        (["data", "info", "coraa"], "did you mean 'cora'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("agssl: error: ") and captured.err.count("\n") == 1
    assert message in captured.err


def _raise(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(args: object) -> int:
        raise error

    monkeypatch.setattr(data_command, "run_data_list", fail)


def test_a_fault_of_ours_is_one_line_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise(ZeroDivisionError("by\nnought"), monkeypatch)
    assert main(["data", "list"]) == 1
    assert capsys.readouterr().err == ("agssl: error: unexpected ZeroDivisionError: by nought (--debug shows where)\n")


@pytest.mark.parametrize("argv", [["--debug", "data", "list"], ["data", "list", "--debug"]])
def test_debug_shows_the_traceback(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise(ZeroDivisionError("by nought"), monkeypatch)
    assert main(argv) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_130_and_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raise(KeyboardInterrupt(), monkeypatch)
    assert main(["data", "list"]) == 130
    assert "the same command again" in capsys.readouterr().err


def test_log_records_go_to_stderr_as_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def warn(args: object) -> int:
        logging.getLogger("agssl").warning("look here")
        return 0

    monkeypatch.setattr(data_command, "run_data_list", warn)
    assert main(["data", "list"]) == main(["data", "list"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == "agssl: look here\n" * 2


def test_a_closed_pipe_is_no_error() -> None:
    code = "import sys; from agssl.cli.main import main; sys.exit(main(['data', 'list', '--json']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(60) == 0


def test_one_json_value_on_stdout() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agssl", "data", "list", "--json"], capture_output=True, text=True, check=True
    )
    assert len(json.loads(done.stdout)) == 9


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize(("number", "code", "jobs"), [(signal.SIGINT, 130, 2), (signal.SIGTERM, 143, 1)])
def test_ctrl_c_ends_training_and_leaves_nothing(
    number: signal.Signals, code: int, jobs: int, graph: Path, tmp_path: Path
) -> None:
    words = ["fit", graph, "--method", "gcn", "--epochs", "10000000", "--patience", "0", "--hidden", "4"]
    words += ["--seeds", "2", "--jobs", str(jobs), "--out", tmp_path / "out" / "run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "agssl", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal sends Ctrl-C to all processes of the command, and so do we
    )
    limit = time.monotonic() + 60
    while not list(tmp_path.glob("out/run/.agssl/plan.json")) and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert out == "" and err.count("\n") == (number == signal.SIGINT)
    assert not (tmp_path / "out").exists()
