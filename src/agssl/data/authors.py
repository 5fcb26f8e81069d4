"""The one fixed split of four graphs that the paper's authors ship with a later work: `--split authors`.

20 nodes a class to train, 500 to validate, 1000 to test, as node indices in `splits/NAME.npz` below the data folder. It
is the same for every seed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agssl.base.errors import DataError, SettingsError
from agssl.data.fetch import RemoteFile, data_folders, find
from agssl.data.split_files import read_split
from agssl.data.splits import RANDOM, Split

if TYPE_CHECKING:
    from agssl.data.graph import Graph

AUTHORS = "authors"
HOME = "LirongWu/TGS on GitHub, dataset/*/{train,val,test}_mask.npy"
_SHA256 = {
    "computers": "4374090518ddb82f33914d7f49a5192a54e95aaa323fb6aaf8b20e7ee7d77ae0",
    "photo": "75be9c151fd720c04d9e02790079a3cc67743e0b86edbe452637f518e40d1498",
    "cs": "2fafa339cdc8d15c2bea2f924641a61967f070a8611ed5ed312f04bdd492be45",
    "physics": "70c924d868343de60e0dc9fac1bd011609986008a01ad115970d05aa89180d14",
}
WITH_AUTHORS = tuple(_SHA256)  # the graphs that have one


def authors_split(graph: Graph, root: str | os.PathLike[str] | None = None) -> Split:
    """The authors' split of a named dataset, not yet checked against its labels.

    Args:
        graph: one of the four, by its name.
        root: folder with the raw files, in place of AGSSL_DATA.
    """
    if not graph.named or graph.name not in _SHA256:
        raise SettingsError(
            f"the split authors is there for {', '.join(WITH_AUTHORS)}, but not for {graph.name}; ask for another one, "
            f"as in --split {RANDOM}"
        )
    folders, name = data_folders(root), f"splits/{graph.name}.npz"
    path = find(RemoteFile(name, _SHA256[graph.name], None), folders)
    if path is None:
        raise DataError(
            f"the split authors of {graph.name} is not here: {name} is neither below AGSSL_DATA nor below "
            f"{folders.cache}; put it there (train, val and test as node indices, from {HOME}), or ask for another "
            f"one, as in --split {RANDOM}"
        )
    split = read_split(path, graph.num_nodes)
    return Split(split.train, split.val, split.test, AUTHORS)
