"""What is said beside the files of an upload."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from django.utils.translation import gettext as _

from results.models import Scope

MOST_SETTINGS = 100
LONGEST_KEY, LONGEST_VALUE = 60, 300
# As results.bundle refuses them; its typed model is no load for a web worker.
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class GivenError(ValueError):
    """Something beside the files that cannot be meant; `field` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Given:
    """Answers that came with the files or later, by name.

    `system` is a slug, or `new` for one that the files describe; `settings` are parameters,
    `setup.*`, `node` and `scope`. `publish`: as soon as nothing is open any more; `wisher` is
    who asked for that, as `results.intake.uploads.sender` names them.
    """

    system: str = ""
    benchmark: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    publish: bool = False
    wisher: str = ""

    @property
    def scope(self) -> str:
        return self.settings.get("scope", "")

    @property
    def inner(self) -> dict[str, str]:
        """The settings that go into the runs themselves."""
        return {key: value for key, value in self.settings.items() if key != "scope"}

    def as_json(self) -> dict[str, Any]:
        """As an Upload keeps it."""
        return {**asdict(self), "settings": dict(self.settings)}

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        """From what an Upload keeps."""
        known = {name: kept[name] for name in cls.__dataclass_fields__ if name in kept}
        return cls(**known)

    def answered(self, other: Given, *, clear: Iterable[str] = ()) -> Given:
        """This, with the answers of `other` over it; `clear` names what goes."""
        gone = set(clear)
        settings = {k: v for k, v in self.settings.items() if k not in gone}
        kept = self.unwished() if "publish" in gone else self
        return Given(
            other.system or ("" if "system" in gone else self.system),
            other.benchmark or ("" if "benchmark" in gone else self.benchmark),
            {**settings, **other.settings},
            kept.publish or other.publish,
            other.wisher or kept.wisher,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All that `answered` can clear."""
        return ("system", "benchmark", "publish", *self.settings)

    def wished_by(self, wisher: str) -> Given:
        """This, with who asks for what is to be published."""
        return replace(self, wisher=wisher) if self.publish else self

    def unwished(self) -> Given:
        """This, to be kept as a draft."""
        return replace(self, publish=False, wisher="")


def settings_of(words: Iterable[str]) -> dict[str, str]:
    """Settings from `key=value` words. Raises GivenError for one that is none."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise GivenError("set", _("found %(word)r, expected KEY=VALUE") % {"word": word[:80]})
        add_setting(found, key.strip(), value.strip())
    return found


def add_setting(found: dict[str, str], key: str, value: str) -> None:
    """Take one setting. Raises GivenError for what no run could have."""
    fits = 0 < len(key) <= LONGEST_KEY and len(value) <= LONGEST_VALUE
    if not fits or len(found) > MOST_SETTINGS:
        raise GivenError(
            "set",
            _("a name of at most %(key)d characters and a value of at most %(value)d are expected")
            % {"key": LONGEST_KEY, "value": LONGEST_VALUE},
        )
    for text in (key, value):
        _check_text(text)
    if key == "scope" and value and value not in Scope.values:
        expected = ", ".join(Scope.values)
        raise GivenError("set", _("scope: expected one of %(names)s") % {"names": expected})
    found[key] = value


def _check_text(text: str) -> None:
    if any(unicodedata.category(character) in UNSEEN for character in text):
        raise GivenError("set", _("a character that cannot be seen is not expected"))
