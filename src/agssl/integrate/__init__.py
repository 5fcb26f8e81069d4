"""Knowledge integration: each import below registers its schemes."""

from agssl.integrate import heuristic, latent_factor, local, stack, teacher_student, was
from agssl.integrate.base import INTEGRATORS, Integrator, Knowledge

__all__ = [
    "INTEGRATORS",
    "Integrator",
    "Knowledge",
    "heuristic",
    "latent_factor",
    "local",
    "stack",
    "teacher_student",
    "was",
]
