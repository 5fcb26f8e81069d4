"""Settings: each described once, checked, read from TOML and written to it."""

from agssl.config.describe import Description, SearchRange, described, documented
from agssl.config.effort import EFFORTS, PAPER_TASKS
from agssl.config.fields import DESCRIBED, METHODS, WEIGHTS_FROM, WHOLE, SettingFields
from agssl.config.files import RUN_KEYS, none_for_zero, read_toml
from agssl.config.kinds import Alpha, parse_alpha, parse_task_weights
from agssl.config.old_names import renamed
from agssl.config.settings import Settings, effective
from agssl.config.teacher import AUTO, LABELS, OF_NETWORK, PAPER, TeacherSpec, parse_network

__all__ = [
    "AUTO",
    "DESCRIBED",
    "EFFORTS",
    "LABELS",
    "METHODS",
    "OF_NETWORK",
    "PAPER",
    "PAPER_TASKS",
    "RUN_KEYS",
    "WEIGHTS_FROM",
    "WHOLE",
    "Alpha",
    "Description",
    "SearchRange",
    "SettingFields",
    "Settings",
    "TeacherSpec",
    "described",
    "documented",
    "effective",
    "none_for_zero",
    "parse_alpha",
    "parse_network",
    "parse_task_weights",
    "read_toml",
    "renamed",
]
