"""Whom each node trusted, and what came of it."""
