"""Names of the classes of datasets whose files only number them."""

from __future__ import annotations

import numpy as np
import pytest

from agssl.base.errors import DataError
from agssl.data.catalog import SPECS
from agssl.data.datasets import load_dataset

# from the descriptions of the datasets; within each, no two classes have the same number of nodes
SIZES = {
    "cora": {
        "Neural Networks": 818,
        "Probabilistic Methods": 426,
        "Genetic Algorithms": 418,
        "Theory": 351,
        "Case Based": 298,
        "Reinforcement Learning": 217,
        "Rule Learning": 180,
    },
    "citeseer": {
        "Databases": 701,
        "Information Retrieval": 668,
        "Agents": 596,
        "Machine Learning": 590,
        "HCI": 508,
        "AI": 249,
    },
    "pubmed": {"Diabetes type 2": 7875, "Diabetes type 1": 7739, "Diabetes, experimental": 4103},
}


@pytest.mark.parametrize("name", SIZES)
def test_classes_are_named_by_how_many_nodes_they_have(name: str) -> None:
    try:
        y = load_dataset(name).y
    except DataError as error:
        pytest.skip(str(error))
    (spec,) = (spec for spec in SPECS if spec.name == name)
    counts = np.bincount(y[y >= 0]).tolist()
    assert dict(zip(spec.class_names, counts, strict=True)) == SIZES[name]
