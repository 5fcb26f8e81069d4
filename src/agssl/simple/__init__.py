"""Classifiers without gradient training: each import below registers one under its name."""

from agssl.simple import linear, propagation
from agssl.simple.base import SIMPLE, SimpleClassifier, is_simple, make_simple

__all__ = ["SIMPLE", "SimpleClassifier", "is_simple", "linear", "make_simple", "propagation"]
