"""The short form of `torture.py`: a few hundred damaged files, in a process of limited memory."""

from __future__ import annotations

import contextlib
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.errors import AgsslError, DataError
from agssl.data.unpickle import unpickle
from agssl.store.fitted import load_fitted
from fuzz.corpus import Canary, write_planetoid
from fuzz.mutate import WAYS, mutated
from fuzz.torture import torture


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="limits of memory are those of Linux")
def test_damaged_files_of_every_kind_are_read_or_refused_and_nothing_else() -> None:
    figures = torture(120)
    assert figures["faults"] == 0, figures["found"]
    assert figures["code_run"] is False
    assert figures["cases"] == 120
    assert figures["refused"] > 50
    assert figures["peak_mb"] < 1500


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_to_damage_a_file_changes_something_and_repeats(way: Any) -> None:
    data = b"id,f,label\nn0,1.5,a\nn1,2.5,b\n" * 3
    changed = [way(data, random.Random(seed)) for seed in range(20)]
    assert any(other != data for other in changed)
    assert changed == [way(data, random.Random(seed)) for seed in range(20)]
    assert way(b"", random.Random(0)) is not None
    assert mutated(data, random.Random(1)) == mutated(data, random.Random(1))


@given(seed=st.integers(0, 10**9), protocol=st.sampled_from([0, 1, 2, 3, 4, 5]))
@settings(max_examples=60, deadline=None)
def test_a_damaged_canary_never_sings(tmp_path_factory: pytest.TempPathFactory, seed: int, protocol: int) -> None:
    folder = tmp_path_factory.mktemp("canary")
    canary = folder / "sang"
    data = pickle.dumps({0: [Canary(str(canary))], 1: Canary(str(canary))}, protocol=protocol)
    path = folder / "ind.toy.graph"
    for content in (data, mutated(data, random.Random(seed))):
        path.write_bytes(content)
        for read in (unpickle, load_fitted):
            with contextlib.suppress(AgsslError):
                read(path)
        assert not canary.exists()


OPCODES = st.lists(
    st.one_of(
        st.sampled_from([b"cnumpy\nndarray\n", b"cnumpy\ndtype\n", b"ccollections\ndefaultdict\n", b"cos\nsystem\n"]),
        st.sampled_from([b"c__builtin__\nlist\n", b"cscipy.sparse.csr\ncsr_matrix\n", b"r\xff\xff\xff\xff", b"q\x00"]),
        st.sampled_from([b"(", b")", b"]", b"}", b"t", b"l", b"d", b"R", b"\x81", b"b", b"s", b"u", b"e", b"a"]),
        st.sampled_from([b"I7\n", b"K\x05", b"N", b"X\x02\x00\x00\x00i4", b"\x85", b"\x86", b"\x87", b"o"]),
        st.sampled_from([b"h\x00", b"ios\nsystem\n"]),
        st.sampled_from([b"\x82\x01", b"Pid\n", b"Q", b"\x92", b"\x97", b"\x98", b"0", b"1", b"2", b"\x80\x02"]),
    ),
    max_size=14,
)  # fmt: skip


@given(OPCODES)
@settings(max_examples=150, deadline=None)
def test_any_sequence_of_opcodes_gives_plain_data_or_one_error(
    tmp_path_factory: pytest.TempPathFactory, codes: list[bytes]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / "opcodes"
    path.write_bytes(b"".join([*codes, b"."]))
    with contextlib.suppress(DataError):
        unpickle(path)


@pytest.mark.parametrize(
    "hostile",
    [
        b"cnumpy\ndtype\n}X\x03\x00\x00\x00abcNsb.",  # fill in a name itself
        b"cnumpy\ndtype\n(N}X\x04\x00\x00\x00makeNstb.",
        b"ccollections\ndefaultdict\n(cnumpy\ndtype\ntRcos\nsystem\n.",
        b"\x80\x02iposix\nsystem\n.",
        b"]r\xff\xff\xff\x3f.",  # mention a billionth object, for which memory would be taken
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(L99999999999L\ntX\x01\x00\x00\x00btR.",
    ],
)
def test_hostile_programs_are_harmless(tmp_path: Path, hostile: bytes) -> None:
    (tmp_path / "f").write_bytes(hostile)
    with contextlib.suppress(DataError):
        unpickle(tmp_path / "f")
    write_planetoid(tmp_path / "sound")
    assert unpickle(tmp_path / "sound" / "ind.toy.ty").tolist() == [[0, 1], [1, 0]]  # nothing stays behind
