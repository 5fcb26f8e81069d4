"""Encoders and the class head: each import below registers one encoder under its name."""

from agssl.encoders import appnp, gat, gcn, gcnii, gpr, hops, linkx, mixed, mlp, ppr, sage
from agssl.encoders.base import ENCODERS, Encoder, Pass, Shape, joined
from agssl.encoders.layer import Layer, Tiles, glorot
from agssl.encoders.network import Network, Output, blueprint

__all__ = [
    "ENCODERS",
    "Encoder",
    "Layer",
    "Network",
    "Output",
    "Pass",
    "Shape",
    "Tiles",
    "appnp",
    "blueprint",
    "gat",
    "gcn",
    "gcnii",
    "glorot",
    "gpr",
    "hops",
    "joined",
    "linkx",
    "mixed",
    "mlp",
    "ppr",
    "sage",
]
