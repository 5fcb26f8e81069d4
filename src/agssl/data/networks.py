"""Files that NetworkX reads: GraphML, GEXF, GML and JSON node-link; and plain edge lists, which need no package."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np

from agssl.base.errors import DataError, GraphError, MissingExtraError, SettingsError
from agssl.data.columns import Columns, TableOptions
from agssl.data.graph import Graph
from agssl.data.weights import WeightChoice, as_number

log = logging.getLogger("agssl")

FORMATS = {".graphml": "GraphML", ".gexf": "GEXF", ".gml": "GML", ".json": "JSON in the node-link form"}
EDGE_LISTS = (".edgelist", ".txt")
WRITTEN = re.compile(r"""['"]weight['"]\s*:\s*([^,}\s]+)""")  # a weight as NetworkX writes it after an edge


def read_network(
    path: Path,
    label: str,
    name: str,
    require_labels: bool,
    options: TableOptions,
    columns: Columns | None,
    weights: WeightChoice,
) -> Graph:
    """The graph in a file of one of `FORMATS`; attributes of nodes are columns."""
    kind = FORMATS[path.suffix.lower()]
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError(f"{path} is {kind}, which needs networkx; pip install networkx") from error
    from agssl.data.convert import from_networkx

    try:
        graph = _read(nx, path)
    except Exception as error:  # the parsers and networkx raise errors of many kinds
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"cannot read {path}: {reason}; it must be {kind}") from error
    if path.suffix.lower() == ".gexf":
        _own_label(graph, label, path)
    how: dict[str, Any] = {"options": options, "columns": columns, "weight": weights.column}
    how |= {"unweighted": weights.ignored, "require_labels": require_labels}
    return from_networkx(graph, label=label, name=name, **how)


def _read(nx: Any, path: Path) -> Any:
    ending = path.suffix.lower()
    if ending == ".json":
        data = json.loads(path.read_bytes())
        graph = nx.node_link_graph(data, edges="links" if "links" in data else "edges")
    else:
        graph = {".graphml": nx.read_graphml, ".gexf": nx.read_gexf, ".gml": nx.read_gml}[ending](path)
    for _, values in graph.nodes(data=True):
        values.pop("viz", None)  # how GEXF draws a node
    return graph


def _own_label(graph: Any, label: str, path: Path) -> None:
    """In GEXF, `label` is what a node is called when drawn; it is its class only where several nodes share one."""
    names = [values.get("label") for _, values in graph.nodes(data=True)]
    called = len({str(name) for name in names}) == len(names) > 2
    if label == "label" and called:
        others = sorted({str(key) for _, values in graph.nodes(data=True) for key in values if key != "label"})
        raise GraphError(
            f"in {path}, 'label' is the name of each node and not its class; say which attribute has the classes with "
            f"--label: {', '.join(others) or 'there is none'}"
        )
    if label != "label":
        for _, values in graph.nodes(data=True):
            values.pop("label", None)


def find_edge_list(folder: Path) -> Path | None:
    """`edges.edgelist` or `edges.txt` in a folder, if there is one."""
    return next((path for ending in EDGE_LISTS if (path := folder / f"edges{ending}").is_file()), None)


def read_edge_list(path: Path, encoding: str, weights: WeightChoice) -> tuple[np.ndarray, np.ndarray, Any]:
    """Both ends of each edge, as written, and the weights, if there are any: two or three words per line.

    The third word, or `weight` in braces as NetworkX writes it, is the weight if every edge has one and all are
    numbers. More words are left out, which is said. `#` begins a comment.
    """
    if weights.column is not None:
        raise SettingsError(
            f"weight is {weights.column!r}, but {path} has no named columns: the third word of a line is the weight; "
            "leave weight out"
        )
    ends: list[tuple[str, str]] = []
    third: list[str] = []
    further = False
    try:
        with open(path, encoding=encoding) as file:
            for number, line in enumerate(file, start=1):
                text, brace, values = line.partition("#")[0].partition("{")
                words = text.replace(",", " ").split()
                if len(words) == 1:
                    raise DataError(f"{path} line {number} has one word, {words[0][:60]!r}; write both ends of an edge")
                if words:
                    ends.append((words[0], words[1]))
                    weight = WRITTEN.search(values) if brace else None
                    third += words[2:3] or ([weight[1]] if weight else [])
                    further |= len(words) > 3
    except UnicodeError as error:
        raise DataError(
            f"cannot read {path}: its characters are not {encoding}; say what they are: --encoding"
        ) from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; check the file") from error
    both = np.array(ends, dtype=str).reshape(-1, 2)
    numbers = [as_number(word) for word in third]
    usable = len(third) == len(ends) and None not in numbers
    if further or (third and not usable):
        log.warning(f"{path}: words after the second of a line are not all weights, and {_unread(usable)} not read")
    found = np.array(numbers, dtype=float) if ends and usable and not weights.ignored else None
    return both[:, 0], both[:, 1], found


def _unread(usable: bool) -> str:
    return "those after the third are" if usable else "they are"
