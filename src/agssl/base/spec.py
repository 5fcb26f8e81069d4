"""The grammar of plug-ins with settings: a name, then `setting=value` after colons, as in `par:parts=100`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, TypeVar

from agssl.base.errors import SettingsError
from agssl.base.registry import Registry

T = TypeVar("T")


@dataclass(frozen=True)
class Spec:
    """A plug-in as text names it.

    >>> spec = Spec.parse("pairsim:target=feature:pairs=100")
    >>> spec.name, str(spec.with_option("pairs", 50))
    ('pairsim', 'pairsim:target=feature:pairs=50')
    """

    name: str
    options: tuple[str, ...] = ()  # as written, `setting=value`

    @classmethod
    def parse(cls, text: str) -> Spec:
        """The name and the options of a text; `build` says what is wrong with them."""
        name, *options = text.split(":")
        return cls(name, tuple(options))

    def with_option(self, key: str, value: object) -> Spec:
        """The same with one setting changed or added."""
        others = (option for option in self.options if not option.startswith(f"{key}="))
        return Spec(self.name, (*others, f"{key}={value}"))

    def build(self, registry: Registry[type[T]], **more: Any) -> T:
        """An instance of the registered class with these settings, and more arguments that text can't give."""
        kind = registry[self.name]
        parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
        open_ended = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        known = {p.name: p for p in parameters if p.name not in more and p.kind not in open_ended}
        values: dict[str, object] = {}
        for option in self.options:
            key, equals, value = option.partition("=")
            if key not in known or not equals:
                cure = f"write {self.name}:setting=value with one of {', '.join(known)}"
                raise SettingsError(
                    f"{registry.kind} {str(self)!r}: {option!r} is not a setting of {self.name}; "
                    + (cure if known else f"it has none, so write {self.name}")
                )
            values[key] = _value(f"{registry.kind} {str(self)!r}: {key}", value, str(known[key].annotation))
        try:
            return kind(**more, **values)
        except TypeError as error:
            raise SettingsError(f"{registry.kind} {str(self)!r}: {error}") from error

    def __str__(self) -> str:
        return ":".join((self.name, *self.options))


def _value(what: str, text: str, kind: str) -> object:
    """The text as the setting's annotation has it: a truth value, a number, or the text itself."""
    if "bool" in kind:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise SettingsError(f"{what} = {text}, but it must be true or false")
    if "str" in kind or not ("int" in kind or "float" in kind):
        return text
    try:
        return float(text) if "float" in kind else int(text)
    except ValueError:
        must = "a number" if "float" in kind else "a whole number"
        raise SettingsError(f"{what} = {text}, but it must be {must}") from None
