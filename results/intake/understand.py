"""From files and what is said beside them to bundles, open questions and problems.

Reads the database, writes nothing. Runs in a child process with limits.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from results import formats
from results.bundle import BundleError, Defaults, Problem
from results.formats.base import Draft, File, Remark
from results.intake import questions as ask
from results.intake.archives import expand
from results.intake.given import Given
from results.intake.machine import merge
from results.intake.runs import Runs
from results.intake.understood import Around, Understood


def understand(files: Sequence[File], given: Given, around: Around) -> Understood:
    """Read all files together. What is wrong with any of them is in `problems`."""
    found = Understood()
    try:
        expanded = expand(files)
    except BundleError as error:
        found.problems += error.problems
        return found
    found.remarks = list(expanded.remarks)
    found.files = _without_doubles(expanded.files, found)
    drafts = _parse_all(found)
    if found.problems:
        return found
    found.machine = merge((file.name, draft) for file, draft in drafts)
    for _file, draft in drafts:
        found.remarks += draft.remarks
    if around.lab is None:
        found.questions.append(ask.which_lab(around.labs))
    Runs(found, given, around).read(drafts)
    if not found.problems and not found.documents:
        found.problems.append(_no_run(found.files))
    return found


def _without_doubles(files: Sequence[File], found: Understood) -> list[File]:
    """Each content once: what was measured once is no two runs because it was sent twice."""
    first: dict[bytes, File] = {}
    for file in files:
        same = first.setdefault(file.data, file)
        if same is not file:
            text = _("the same file as %(name)s: read once") % {"name": same.name}
            found.remarks.append(Remark(text, file=file.name))
    return list(first.values())


def _parse_all(found: Understood) -> list[tuple[File, Draft]]:
    """A draft of each file that is no attachment of a bundle among them."""
    drafts = []
    attached = {
        name
        for file in found.files
        if formats.detect(file) == "bundle"
        for name in _attached_names(file)
    }
    for file in found.files:
        if file.name in attached:
            found.kinds[file.name] = _("named by the bundle")
            continue
        try:
            drafts.append((file, formats.parse(file)))
            found.kinds[file.name] = formats.name_of(file)
        except BundleError as error:
            found.problems += error.problems
    return drafts


def _attached_names(file: File) -> set[str]:
    """Names of the files that a bundle says it read its values from."""
    try:
        document = formats.parse(file).reads
        bundle = document(Defaults(leave_open=True)).bundle if document else None
    except BundleError:
        return set()
    return {artefact.name for artefact in bundle.artefacts} if bundle else set()


def _no_run(files: Sequence[File]) -> Problem:
    names = ", ".join(file.name for file in files)[:200]
    found, expected = _("no run in any file"), _("the output of a benchmark, or a bundle")
    message = _("found %(found)s (%(names)s), expected %(expected)s") % {
        "found": found,
        "names": names,
        "expected": expected,
    }
    return Problem(message, files[0].name if files else "", None, "", found, expected)
