"""What the site needs beside its pages: files of the repository as pages, the commands, and the words of the glossary.

Pages link to each other and to files as GitHub wants it. On the site, CONTRIBUTING.md and CHANGELOG.md are
pages, examples are shown in full below their table, and a link to any other file of the repository is its name.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
OTHERS = ("trust.md", "performance.md")  # pages that may be there or not, and have their place by their own right
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_config(config: Any) -> Any:
    """Pages that are not in the list of the configuration get their place: those of `OTHERS` under How it works."""
    there = [name for name in OTHERS if (ROOT / "docs" / name).exists()]
    (section,) = (part["How it works"] for part in config["nav"] if "How it works" in part)
    section += [name for name in there if name not in str(section)]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made."""
    for name in PAGES:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    files.append(File.generated(config, "reference/commands.md", content=commands()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Make links of the repository links of the site, and add the meanings of words."""
    where = page.file.src_uri
    text = LINK.sub(lambda found: _link(found, where, files), markdown)
    if where == "examples.md":
        for path in sorted((ROOT / "examples").glob("*.py")):
            text += f"\n\n## {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
    if where in ("glossary.md", "reference/commands.md"):
        return text
    words = json.loads((ROOT / "src/agssl/report/page/glossary.json").read_text(encoding="utf-8"))
    explained = (f"*[{word}]: {meaning}" for word, meaning in words.items() if word.isupper() or "-" in word)
    return text + "\n\n" + "\n".join(explained) + "\n"


def _link(found: re.Match[str], where: str, files: Files) -> str:
    mark, text, target, anchor = found[1], found[2], found[3], found[4] or ""
    if "://" in target or target.startswith("mailto:"):
        return found[0]
    home = ROOT if where in PAGES else (ROOT / "docs" / where).parent
    path = (home / target).resolve()
    if not path.is_relative_to(ROOT):
        return found[0]
    name = path.relative_to(ROOT).as_posix()
    if name == "README.md":
        return f"[{text}]({_from(where, 'index.md')})"
    inside = name.removeprefix("docs/") if name.startswith("docs/") else name if name in PAGES else None
    if inside is not None and files.get_file_from_path(inside) is not None:
        return f"{mark}[{text}]({_from(where, inside)}{anchor})"
    return found[0] if inside is not None else text if text.startswith("`") else f"`{name}`"


def _from(where: str, target: str) -> str:
    return "../" * where.count("/") + target


def commands() -> str:
    """Every command with its help."""
    from agssl.cli.main import build_parser

    parser = build_parser()
    lines = ["# Commands", "", "What `agssl COMMAND --help` says.", ""]
    for name, command in _subcommands(parser):
        lines += [f"## agssl {name}", "", "```text", command.format_help().strip(), "```", ""]
        for inner, below in _subcommands(command):
            lines += [f"### agssl {name} {inner}", "", "```text", below.format_help().strip(), "```", ""]
    return "\n".join(lines)


def _subcommands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [(name, command) for action in found for name, command in action.choices.items()]
