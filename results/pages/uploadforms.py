"""What is typed into the pages of uploads, read and checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from results import actors
from results.actors import Actor
from results.intake.given import Given, GivenError, add_setting, settings_of
from results.models import Lab, System, Trust
from results.queries import visible_systems

MOST_TEXT = 1_000
MOST_SYSTEM = 80
PASTED = "pasted.txt"
_SLUG = re.compile(r"[A-Za-z0-9_-]+")


class UploadForm(forms.Form):
    """What stands beside the files. The files themselves come through `receiving`.

    `labs`: those to choose from; with one it is not asked. `corrects`: a reason is needed.
    """

    text = forms.CharField(required=False, strip=False)
    text_name = forms.CharField(required=False, max_length=200)
    lab = forms.CharField(required=False, max_length=60)
    system = forms.CharField(required=False, max_length=MOST_SYSTEM)
    node = forms.CharField(required=False, max_length=100)
    reason = forms.CharField(required=False, max_length=MOST_TEXT)

    def __init__(
        self,
        data: Any = None,
        *,
        user: Actor,
        labs: Sequence[Lab],
        fixed: Lab | None,
        corrects: bool,
        initial: dict[str, str] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self._user, self._labs, self._fixed = user, labs, fixed
        self.fields["reason"].required = corrects
        self.fields["reason"].error_messages["required"] = gettext_lazy(
            "Say why: readers of the old runs will see it."
        )

    def clean_lab(self) -> Lab | None:
        slug = self.cleaned_data["lab"]
        if self._fixed is not None or not slug:
            return self._fixed
        lab = next((lab for lab in self._labs if lab.slug == slug), None)
        if lab is None:
            raise forms.ValidationError(_("You may not upload for this lab."))
        return lab

    def clean_system(self) -> str:
        try:
            return system_slug(self.cleaned_data["system"], self._user)
        except GivenError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        settings: dict[str, str] = {}
        if cleaned.get("node"):
            try:
                add_setting(settings, "node", cleaned["node"])
            except GivenError as error:
                self.add_error("node", str(error))
        cleaned["given"] = Given(system=cleaned.get("system", ""), settings=settings)
        return cleaned

    @property
    def pasted(self) -> bytes:
        """The pasted text as a file; browsers send its lines with CR LF."""
        text: str = self.cleaned_data.get("text", "")
        return text.replace("\r\n", "\n").encode() if text.strip() else b""


def system_slug(text: str, user: Actor) -> str:
    """The slug of a system that is named by slug or name.

    A slug that none has stays as it is: it may name a new one. Raises GivenError for words
    that could be no slug.
    """
    text = text.strip()
    if len(text) > MOST_SYSTEM:
        raise GivenError("system", _("This is too long to be the name of a system."))
    if not text or visible_systems(user).filter(slug=text).exists():
        return text
    named: list[System] = list(visible_systems(user).filter(name__iexact=text)[:2])
    if len(named) == 1:
        return named[0].slug
    if not _SLUG.fullmatch(text):
        words = _("No system here is called %(name)s. Take one of those that the field offers.")
        raise GivenError("system", words % {"name": text})
    return text


@dataclass(frozen=True)
class Answers:
    """What was answered: for `given`, for the lab, and what is taken back."""

    given: Given
    lab: Lab | None
    clear: tuple[str, ...]


def answers_of(post: QueryDict, user: Actor) -> Answers:
    """The answers of a posted form. Raises GivenError, naming the question."""
    found: dict[str, str] = {}
    clear = set(post.getlist("clear"))
    for name, value in post.items():
        key = name.removeprefix("set.")
        if key == name:
            continue
        if str(value).strip():
            _add(found, key, str(value).strip())
        else:
            clear.add(key)
    more = settings_of(line for line in post.get("set", "").splitlines() if line.strip())
    system = post.get("system_other", "").strip() or post.get("system", "").strip()
    if "system" in post and not system:
        clear.add("system")
    given = Given(system=system_slug(system, user), settings={**found, **more})
    return Answers(given, _lab(post.get("lab", ""), user), tuple(clear - set(given.settings)))


def _add(found: dict[str, str], key: str, value: str) -> None:
    """Take one answer; what is wrong with it is told at its question."""
    try:
        add_setting(found, key, value)
    except GivenError as error:
        raise GivenError(key, str(error)) from error


def _lab(slug: str, user: Actor) -> Lab | None:
    if not slug:
        return None
    lab = actors.labs_for_upload(user).filter(slug=slug[:60]).first()
    if lab is None:
        raise GivenError("lab", _("You may not upload for this lab."))
    return lab


def words_of(post: QueryDict, name: str) -> str:
    """A text without outer blanks. Raises GivenError for more than 1,000 characters."""
    text = post.get(name, "").strip().replace("\r\n", "\n")
    if len(text) > MOST_TEXT or "\0" in text:
        raise GivenError(name, _("At most 1,000 characters are expected here."))
    return text


def moment_of(post: QueryDict, name: str) -> datetime | None:
    """A moment to come as `datetime-local` sends it, taken as UTC; None where it is empty."""
    text = post.get(name, "").strip()
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text[:40])
    except ValueError:
        found = None
    if found is None or found.year > 9000:
        raise GivenError(name, _("A date and time is expected, such as 2027-01-31T12:00."))
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    if found <= timezone.now():
        raise GivenError(name, _("The date must lie in the future."))
    return found


def number_of(post: QueryDict, name: str) -> int | None:
    """A whole number, None where nothing is chosen. Raises GivenError."""
    text = post.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise GivenError(name, _("A choice of the list is expected here."))
    return int(text)


def trust_of(post: QueryDict) -> int | None:
    """A level of trust, None where none is chosen. Raises GivenError."""
    level = number_of(post, "trust")
    if level is not None and level not in Trust.values:
        raise GivenError("trust", _("A choice of the list is expected here."))
    return level
