"""Classifiers without gradient training: each import below registers one under its name."""

from agssl.simple import linear, propagation
from agssl.simple.base import SIMPLE, SimpleClassifier, make_simple

__all__ = ["SIMPLE", "SimpleClassifier", "linear", "make_simple", "propagation"]
