"""The fields of a request that changes something: read one by one, what is wrong told by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from results.hints import hint
from results.intake.given import GivenError, settings_of
from results.request import plain_problem

JSON = "application/json"
CSRF = "csrfmiddlewaretoken"
TRUE, FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")
LONGEST_PROSE = 1_000
MOST_GROUPED = 100
SETTINGS = "set"
FILE = "file"
Sent = Mapping[str, Sequence[str]]


class Fields:
    """What was sent, by name. Nothing is believed before `check` has passed.

    `groups` are names under which values have names of their own: an object in JSON,
    `group.name` in a form.
    Raises ValidationError at once for names that are not in `known`, for all of them.
    """

    def __init__(self, request: Request, known: Sequence[str], groups: Sequence[str] = ()) -> None:
        self.errors: dict[str, list[str]] = {}
        self._groups: dict[str, dict[str, str]] = {name: {} for name in groups}
        self._sent = self._take_groups(_sent(request, groups))
        for name, values in self._sent.items():
            if name == FILE:
                self.refuse(name, _("no file came under this name; curl sends one by file=@NAME"))
            elif name not in known:
                self.refuse(name[:60], _("is not known here; %s") % hint(name, known))
            elif name in self._groups:
                self.refuse(name, _("expected %s.NAME, a field for each value") % name)
            elif len(values) > 1 and name != SETTINGS:
                self.refuse(name, _("is given more than once"))
        self.check()

    def refuse(self, name: str, text: str) -> None:
        """Note something wrong with a field."""
        self.errors.setdefault(name, []).append(text)

    def check(self) -> None:
        """Raises ValidationError if anything was wrong."""
        if self.errors:
            raise ValidationError(self.errors)

    def has(self, name: str) -> bool:
        """Whether it was sent, be it empty."""
        return name in self._sent

    def word(self, name: str) -> str:
        """A short text of one line; empty where it was not sent."""
        text = self._first(name)
        if problem := plain_problem(text):
            self.refuse(name, problem)
            return ""
        return text

    def prose(self, name: str, longest: int = LONGEST_PROSE) -> str:
        """A text that people read, of several lines perhaps."""
        text = self._first(name).replace("\r\n", "\n")
        if len(text) > longest:
            words = {"found": len(text), "limit": longest}
            self.refuse(name, _("found %(found)d characters, expected at most %(limit)d") % words)
        elif any(not sign.isprintable() and sign not in "\n\t" for sign in text):
            self.refuse(name, _("found a control character, expected plain text"))
        return text

    def flag(self, name: str) -> bool:
        """Yes or no; no where it was not sent."""
        text = self.word(name).lower()
        if text not in (*TRUE, *FALSE):
            self.refuse(name, _("expected true or false"))
        return text in TRUE

    def choice(self, name: str, known: Sequence[str]) -> str:
        """One of the known words, or empty."""
        text = self.word(name)
        if text and text not in known:
            words = {"value": text, "hint": hint(text, known)}
            self.refuse(name, _("%(value)r is not known; %(hint)s") % words)
        return text

    def moment(self, name: str) -> datetime | None:
        """A moment to come, in ISO 8601 with its zone; None where it was not sent."""
        text = self.word(name)
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            expected = _("expected a date and time with its zone, such as 2027-01-31T09:00:00Z")
            self.refuse(name, expected)
        elif found <= timezone.now():
            self.refuse(name, _("lies in the past"))
        return found

    def settings(self) -> dict[str, str]:
        """What `set` says, KEY=VALUE each; the last word for a key holds."""
        try:
            return settings_of(self._sent.get(SETTINGS, ()))
        except GivenError as error:
            self.refuse(error.field, str(error))
            return {}

    def group(self, name: str) -> dict[str, str]:
        """The values of a group by their own names."""
        found = self._groups[name]
        if len(found) > MOST_GROUPED:
            words = {"found": len(found), "limit": MOST_GROUPED}
            self.refuse(name, _("found %(found)d values, expected at most %(limit)d") % words)
            return {}
        for key, text in found.items():
            if problem := plain_problem(key) or plain_problem(text):
                self.refuse(f"{name}.{key[:60]}", problem)
        return found

    def _take_groups(self, sent: Sent) -> Sent:
        """Put aside what belongs to a group; the rest."""
        rest: dict[str, Sequence[str]] = {}
        for name, values in sent.items():
            group, dot, key = name.partition(".")
            if not (dot and group in self._groups):
                rest[name] = values
            elif len(values) > 1:
                self.refuse(name[:60], _("is given more than once"))
            else:
                self._groups[group][key] = values[0].strip()
        return rest

    def _first(self, name: str) -> str:
        return next(iter(self._sent.get(name, ())), "").strip()


def _sent(request: Request, groups: Sequence[str] = ()) -> Sent:
    """The fields of a form, or of a JSON object; of another body none was read."""
    plain: HttpRequest = request._request
    if plain.content_type == JSON:
        return _of_json(request.data, groups)
    return {name: values for name, values in plain.POST.lists() if name != CSRF}


def _of_json(data: Any, groups: Sequence[str]) -> Sent:
    """Values as a form has them; `set` may be an object, a group must be."""
    if not isinstance(data, dict):
        raise ValidationError([_("expected an object with the fields by name")])
    found: dict[str, Sequence[str]] = {}
    for name, value in data.items():
        if name in groups and value is not None:
            found |= _grouped(name, value)
        elif value is not None:
            found[str(name)] = _texts(name, value)
    return found


def _grouped(group: str, values: Any) -> Sent:
    if not isinstance(values, dict):
        raise ValidationError({group: [_("expected an object with values by name")]})
    named = {f"{group}.{key}": value for key, value in values.items() if value is not None}
    return {name: [_text(name, value)] for name, value in named.items()}


def _texts(name: str, value: Any) -> list[str]:
    if name == SETTINGS and isinstance(value, dict):
        return [f"{key}={_text(name, one)}" for key, one in value.items()]
    return [_text(name, one) for one in (value if isinstance(value, list) else [value])]


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise ValidationError({str(name)[:60]: [_("expected a text or a number")]})
