"""Who may what, as tables: DESIGN.md's 'Who may what', route by route.

A line is route, method, thing, and for each column what comes of it. A thing is a kind of
`permission_world`, after a `?` the query that is put behind its address, after a `:` what is
sent along (see FORMS). What comes of it:

    ok      answered; a POST has changed something
    told    answered, and nothing has changed: the page says why
    login   led to the page to sign in
    400 …   the status

A method of a route that has no line is answered with 405 to everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Case(NamedTuple):
    """A line of a table; `expected` by column."""

    route: str
    method: str
    thing: str
    expected: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.thing}"


def cases(table: str) -> Iterator[Case]:
    """The lines of a table; the first names the columns, one `*` stands for the same in all."""
    head, *lines = [line.split() for line in table.strip().splitlines() if line.strip()]
    columns = head[3:]
    for route, method, thing, *given in lines:
        found = given[:1] * len(columns) if given[1:] == ["*"] else given
        if len(found) != len(columns):
            raise ValueError(f"{method} {route} {thing}: {len(found)} of {len(columns)} columns")
        yield Case(route, method, thing, dict(zip(columns, found, strict=True)))


# Who stands behind a column. Pages know no tokens: one opens no more than no account does.
PAGE_ROLES: Mapping[str, Sequence[str]] = {
    "nobody": ("anon", "closed", "publish"),
    "stranger": ("stranger",),
    "member": ("member",),
    "publisher": ("publisher",),
    "staff": ("staff",),
}
# Accounts and tokens are asked in one way.
API_ROLES: Mapping[str, Sequence[str]] = {
    "nobody": ("anon", "closed"),
    "revoked": ("revoked", "expired"),
    "run": ("run",),
    "foreign": ("stranger", "foreign"),
    "member": ("member", "upload"),
    "publisher": ("publisher", "publish"),
    "staff": ("staff",),
}
# Jobs know tokens of their own kind: of the lab that asked, of another, of the hub's own lab.
JOB_ROLES: Mapping[str, Sequence[str]] = {
    "nobody": ("anon", "closed"),
    "revoked": ("revoked", "expired"),
    "run": ("run",),
    "elsewhere": ("foreign-run",),
    "hub": ("hub-run",),
    "lab": ("stranger", "foreign", "member", "upload", "publisher", "publish"),
    "staff": ("staff",),
}
# `plain` is of the staff and has no permission, `looker` may look at everything.
ADMIN_ROLES: Mapping[str, Sequence[str]] = {
    "nobody": ("anon", "closed", "publish"),
    "lab": ("publisher",),
    "plain": ("staff",),
    "looker": ("looker",),
    "root": ("root",),
}

PAGES = """
route              method thing            nobody stranger member publisher staff
healthz            GET    -                ok     *
favicon            GET    -                ok     *
login              GET    -                ok     *
login              POST   -                told   *
login              PUT    -                told   *
logout             POST   -                told   *
home               GET    -                ok     *
compare            GET    -                ok     *
comparison         GET    any              ok     *
comparison         GET    missing          404    *
systems            GET    -                ok     *
system             GET    any              ok     *
system             GET    hidden           404    404      ok     ok        ok
system             GET    missing          404    *
benchmarks         GET    -                ok     *
benchmark          GET    any              ok     *
benchmark          GET    missing          404    *

run                GET    published        ok     *
run                GET    once             ok     *
run                GET    draft            404    404      ok     ok        ok
run                GET    pending          404    404      ok     ok        ok
run                GET    scheduled        404    404      ok     ok        ok
run                GET    never            404    404      ok     ok        ok
run                GET    hidden           404    404      ok     ok        ok
run                GET    missing          404    *
run-bundle         GET    published        ok     *
run-bundle         GET    once             404    404      ok     ok        ok
run-bundle         GET    draft            404    404      ok     ok        ok
run-bundle         GET    pending          404    404      ok     ok        ok
run-bundle         GET    scheduled        404    404      ok     ok        ok
run-bundle         GET    never            404    404      ok     ok        ok
run-bundle         GET    missing          404    *
artefact           GET    published        ok     *
artefact           GET    once             404    404      ok     ok        ok
artefact           GET    draft            404    404      ok     ok        ok
artefact           GET    draft?ready      404    404      ok     ok        ok
artefact           GET    pending          404    404      ok     ok        ok
artefact           GET    scheduled        404    404      ok     ok        ok
artefact           GET    never            404    404      ok     ok        ok
artefact           GET    swapped          404    *
artefact           GET    missing          404    *

upload-form        GET    -                ok     *
upload-form        GET    -?corrects       login  404      ok     ok        ok
upload-form        POST   -                login  ok       ok     ok        ok
upload-form        POST   -:acme           login  ok       ok     ok        ok
upload-form        POST   -?corrects:why   login  404      ok     ok        ok
uploads            GET    -                login  ok       ok     ok        ok
review             GET    -                404    404      404    404       ok

upload             GET    ready            404    404      ok     ok        ok
upload             GET    asked            404    404      ok     ok        ok
upload             GET    review           404    404      ok     ok        ok
upload             GET    dated            404    404      ok     ok        ok
upload             GET    refused          404    404      ok     ok        ok
upload             GET    failed           404    404      ok     ok        ok
upload             GET    published        404    404      ok     ok        ok
upload             GET    withdrawn        404    404      ok     ok        ok
upload             GET    loose            404    404      404    404       ok
upload             GET    missing          404    *
upload             GET    ready?ready      ok     *
upload             GET    review?review    ok     *
upload             GET    ready?expired    404    404      ok     ok        ok
upload             GET    review?ready     404    404      ok     ok        ok
upload             GET    published?ready  404    404      ok     ok        ok
upload             GET    closed-links?closed-links 404 404 ok    ok        ok
upload-file        GET    ready            404    404      ok     ok        ok
upload-file        GET    ready?ready      404    404      ok     ok        ok
upload-file        GET    review           404    404      ok     ok        ok
upload-file        GET    published        404    404      ok     ok        ok
upload-file        GET    withdrawn        404    404      ok     ok        ok
upload-file        GET    loose            404    404      404    404       ok
upload-file        GET    swapped          404    *
upload-file        GET    missing          404    *

upload-answer      POST   asked            404    404      ok     ok        ok
upload-answer      POST   asked?ready      404    404      ok     ok        ok
upload-answer      POST   asked:umbra      404    404      400    400       ok
upload-answer      POST   review           404    404      ok     ok        ok
upload-answer      POST   published        404    404      told   told      told
upload-answer      POST   withdrawn        404    404      told   told      told
upload-answer      POST   loose            404    404      404    404       ok
upload-replace     POST   ready            login  404      ok     ok        ok
upload-replace     POST   published        login  404      told   told      told
upload-replace     POST   loose            login  404      404    404       ok
upload-again       POST   failed           404    404      ok     ok        ok
upload-again       POST   ready            404    404      told   told      told
upload-send        POST   ready            404    404      ok     ok        ok
upload-send        POST   ready?ready      404    404      ok     ok        ok
upload-send        POST   asked            404    404      told   told      told
upload-send        POST   published        404    404      told   told      told
upload-return      POST   review           404    404      told   ok        ok
upload-return      POST   ready            404    404      told   told      told
upload-return      POST   published        404    404      told   told      told
upload-label       POST   ready            404    404      told   told      ok
upload-label       POST   review           404    404      told   told      ok
upload-label       POST   published        404    404      told   told      ok
upload-publish     POST   ready            404    404      told   ok        ok
upload-publish     POST   ready?ready      404    404      told   ok        ok
upload-publish     POST   review           404    404      told   ok        ok
upload-publish     POST   dated            404    404      told   ok        ok
upload-publish     POST   asked            404    404      told   told      told
upload-publish     POST   refused          404    404      told   told      told
upload-publish     POST   published        404    404      told   told      told
upload-publish     POST   withdrawn        404    404      told   told      told
upload-publish     POST   loose            404    404      404    404       told
upload-schedule    POST   ready            404    404      told   ok        ok
upload-schedule    POST   published        404    404      told   told      told
upload-unschedule  POST   dated            404    404      told   ok        ok
upload-unschedule  POST   review           404    404      told   told      told
upload-withdraw    POST   ready            404    404      ok     ok        ok
upload-withdraw    POST   dated            404    404      ok     ok        ok
upload-withdraw    POST   published        404    404      ok     ok        ok
upload-withdraw    POST   withdrawn        404    404      told   told      told
upload-withdraw    POST   loose            404    404      404    404       ok
upload-link        POST   ready            404    404      ok     ok        ok
upload-link        POST   ready?ready      404    404      ok     ok        ok
upload-link        POST   loose            404    404      404    404       ok
upload-close-links POST   ready            404    404      ok     ok        ok
upload-close-links POST   ready?ready      404    404      ok     ok        ok

hosts              GET    -                ok     *
jobs               GET    -                ok     *
job                GET    waiting          ok     *
job                GET    running          ok     *
job                GET    done             ok     *
job                GET    public           ok     *
job                GET    missing          404    *
job-new            GET    -                login  403      403    403       ok
job-new            GET    -?repeat         login  403      403    403       ok
job-new            GET    -?draft          login  403      403    403       ok
job-new            POST   -                login  403      403    403       ok
job-measure        POST   -                login  403      403    403       ok
job-cancel         POST   waiting          login  403      403    403       ok
job-cancel         POST   running          login  403      403    403       ok
job-cancel         POST   done             login  403      403    403       told
job-cancel         POST   missing          404    *
job-publish        POST   done             login  403      403    ok        ok
job-publish        POST   public           login  403      403    told      told
job-publish        POST   missing          404    *
job-again          POST   done             login  403      403    403       ok
job-again          POST   missing          404    *
"""

API = """
route                  method thing           nobody revoked run foreign member publisher staff
schema                 GET    -               ok     401     ok  ok      ok     ok        ok
api-root               GET    -               ok     *
api-nothing            GET    -               404    *
api-nothing            POST   -               404    *
api-nothing            PUT    -               404    *
api-nothing            PATCH  -               404    *
api-nothing            DELETE -               404    *
api-compare            GET    -               ok     *
api-compare-csv        GET    -               ok     *
api-lab-list           GET    -               ok     401     ok  ok      ok     ok        ok
api-lab-detail         GET    any             ok     401     ok  ok      ok     ok        ok
api-lab-detail         GET    missing         404    401     404 404     404    404       404
api-system-list        GET    -               ok     401     ok  ok      ok     ok        ok
api-system-detail      GET    any             ok     401     ok  ok      ok     ok        ok
api-system-detail      GET    hidden          404    401     404 404     ok     ok        ok
api-system-detail      GET    missing         404    401     404 404     404    404       404
api-processor-list     GET    -               ok     401     ok  ok      ok     ok        ok
api-processor-detail   GET    any             ok     401     ok  ok      ok     ok        ok
api-processor-detail   GET    hidden          404    401     404 404     ok     ok        ok
api-processor-detail   GET    missing         404    401     404 404     404    404       404
api-benchmark-list     GET    -               ok     401     ok  ok      ok     ok        ok
api-benchmark-detail   GET    any             ok     401     ok  ok      ok     ok        ok
api-metric-list        GET    -               ok     401     ok  ok      ok     ok        ok
api-metric-detail      GET    any             ok     401     ok  ok      ok     ok        ok
api-comparison-list    GET    -               ok     401     ok  ok      ok     ok        ok
api-comparison-detail  GET    any             ok     401     ok  ok      ok     ok        ok
api-list-list          GET    -               ok     401     ok  ok      ok     ok        ok
api-list-detail        GET    any             ok     401     ok  ok      ok     ok        ok

api-run-list           GET    -               ok     401     ok  ok      ok     ok        ok
api-run-detail         GET    published       ok     401     ok  ok      ok     ok        ok
api-run-detail         GET    draft           404    401     404 404     ok     ok        ok
api-run-detail         GET    pending         404    401     404 404     ok     ok        ok
api-run-detail         GET    scheduled       404    401     404 404     ok     ok        ok
api-run-detail         GET    once            404    401     404 404     ok     ok        ok
api-run-detail         GET    never           404    401     404 404     ok     ok        ok
api-measurement-list   GET    -               ok     401     ok  ok      ok     ok        ok
api-measurement-detail GET    published       ok     401     ok  ok      ok     ok        ok
api-measurement-detail GET    draft           404    401     404 404     ok     ok        ok
api-measurement-detail GET    scheduled       404    401     404 404     ok     ok        ok
api-measurement-detail GET    once            404    401     404 404     ok     ok        ok
api-measurement-detail GET    never           404    401     404 404     ok     ok        ok

api-upload-list        GET    -               ok     401     ok  ok      ok     ok        ok
api-upload-list        POST   -               401    401     403 ok      ok     ok        ok
api-upload-list        POST   -:acme          401    401     403 403     ok     ok        ok
api-upload-list        POST   -:publish       401    401     403 403     403    ok        ok
api-upload-list        POST   -:dry           401    401     403 403     told   told      told
api-upload-list        POST   -:corrects      401    401     403 400     ok     ok        ok
api-upload-detail      GET    ready           404    401     404 404     ok     ok        ok
api-upload-detail      GET    ready?ready     404    401     404 404     ok     ok        ok
api-upload-detail      GET    published       404    401     404 404     ok     ok        ok
api-upload-detail      GET    withdrawn       404    401     404 404     ok     ok        ok
api-upload-detail      GET    loose           404    401     404 404     404    404       ok
api-upload-detail      GET    missing         404    401     404 404     404    404       404
api-upload-detail      POST   asked           401    401     403 404     ok     ok        ok
api-upload-detail      POST   asked?ready     401    401     403 404     ok     ok        ok
api-upload-detail      POST   asked:umbra     401    401     403 404     403    403       ok
api-upload-detail      POST   asked:publish   401    401     403 404     403    ok        ok
api-upload-detail      POST   published       401    401     403 404     409    409       409
api-upload-detail      POST   withdrawn       401    401     403 404     409    409       409
api-upload-detail      POST   loose           401    401     403 404     404    404       ok
api-upload-publish     POST   ready           401    401     403 404     403    ok        ok
api-upload-publish     POST   ready:date      401    401     403 404     403    ok        ok
api-upload-publish     POST   review          401    401     403 404     403    ok        ok
api-upload-publish     POST   asked           401    401     403 404     403    409       409
api-upload-publish     POST   published       401    401     403 404     403    409       409
api-upload-publish     POST   withdrawn       401    401     403 404     403    409       409
api-upload-send        POST   ready           401    401     403 404     ok     ok        ok
api-upload-send        POST   asked           401    401     403 404     409    409       409
api-upload-send        POST   published       401    401     403 404     409    409       409
api-upload-withdraw    POST   ready           401    401     403 404     ok     ok        ok
api-upload-withdraw    POST   published       401    401     403 404     ok     ok        ok
api-upload-withdraw    POST   withdrawn       401    401     403 404     409    409       409
api-upload-withdraw    POST   loose           401    401     403 404     404    404       ok
api-upload-return      POST   review          401    401     403 404     403    ok        ok
api-upload-return      POST   ready           401    401     403 404     403    409       409
api-upload-label       POST   ready           401    401     403 404     403    403       ok
api-upload-label       POST   published       401    401     403 404     403    403       ok
"""

# The jobs are lab acme's, `hubs` the hub's own; `done` has a draft of acme's for a result.
JOBS = """
route           method thing     nobody revoked run elsewhere hub lab staff
api-host-list   GET    -         ok     401     ok  ok        ok  ok  ok
api-host-detail GET    any       ok     401     ok  ok        ok  ok  ok
api-host-detail GET    missing   404    401     404 404       404 404 404
api-job-list    GET    -         ok     401     ok  ok        ok  ok  ok
api-job-list    POST   -         401    401     ok  ok        ok  403 ok
api-job-list    POST   -:repeat  401    401     ok  ok        ok  403 ok
api-job-list    POST   -:draft   401    401     400 400       400 403 ok
api-job-list    POST   -:publish 401    401     403 403       403 403 ok
api-job-list    POST   -:wrong   401    401     400 400       400 403 400
api-job-list    POST   -:closed  401    401     409 409       409 403 409
api-job-detail  GET    waiting   ok     401     ok  ok        ok  ok  ok
api-job-detail  GET    running   ok     401     ok  ok        ok  ok  ok
api-job-detail  GET    done      ok     401     ok  ok        ok  ok  ok
api-job-detail  GET    missing   404    401     404 404       404 404 404
api-job-cancel  POST   waiting   401    401     ok  403       ok  403 ok
api-job-cancel  POST   running   401    401     ok  403       ok  403 ok
api-job-cancel  POST   hubs      401    401     403 403       ok  403 ok
api-job-cancel  POST   done      401    401     409 403       409 403 409
api-job-cancel  POST   missing   401    401     404 404       404 403 404
"""

# Addresses of the admin that are of no model.
ADMIN = """
route                           method thing nobody lab   plain looker root
admin:index                     GET    -     login  login ok    ok     ok
admin:login                     GET    -     ok     ok    ok    ok     ok
admin:logout                    GET    -     ok     ok    405   405    405
admin:password_change           GET    -     login  login ok    ok     ok
admin:password_change_done      GET    -     login  login ok    ok     ok
admin:autocomplete              GET    -     login  login 403   ok     ok
admin:jsi18n                    GET    -     login  login ok    ok     ok
admin:view_on_site              GET    system login login ok    ok     ok
admin:app_list                  GET    results login login 404  ok     ok
admin/(?P<url>.*)$              GET    -     login  login 404   404    404
admin:auth_user_password_change GET    user  login  login 403   403    ok
"""

# What the admin's superuser may at each model; whoever has no permission gets 403 throughout,
# who may only look gets the list, the row and its history. '-': not even the superuser.
MODELS = """
model       list add change delete
group       ok   ok  ok     ok
user        ok   ok  ok     ok
lab         ok   ok  ok     ok
processor   ok   ok  ok     ok
system      ok   ok  ok     ok
source      ok   ok  ok     ok
comparison  ok   ok  ok     ok
token       ok   ok  -      -
run         ok   -   -      -
measurement ok   -   -      -
summary     ok   -   -      -
benchmark   ok   -   -      -
metric      ok   -   -      -
list        ok   -   -      -
artefact    ok   -   -      -
setup       ok   -   -      -
auditentry  ok   -   -      -
loaded      ok   -   -      -
upload      ok   -   -      -
host        ok   -   ok     -
job         ok   -   -      -
attempt     ok   -   -      -
"""

# Actions by model: who may, beside whom nobody may.
ACTIONS: Mapping[tuple[str, str], Sequence[str]] = {
    ("run", "publish"): ("root",),
    ("run", "withdraw"): ("root",),
    ("run", "keep_out_of_ranks"): ("root",),
    ("run", "let_into_ranks"): ("root",),
    ("run", "rerun"): ("root",),
    # Whoever of the staff sees the rows may end what they ask for.
    ("job", "cancel"): ("looker", "root"),
    ("token", "revoke"): ("root",),
    **{
        (model, "delete_selected"): ("root",)
        for model in ("group", "user", "lab", "processor", "system", "source", "comparison")
    },
    # Offered by Django to every model; here to nobody.
    **{
        (model, "delete_selected"): ()
        for model in (
            *("token", "run", "measurement", "summary", "benchmark", "metric", "list"),
            *("artefact", "setup", "auditentry", "loaded", "upload", "host", "job", "attempt"),
        )
    },
}

# What is sent, by route or by what stands behind the ':'. FILE stands for a new file.
FILE = "a file"
FORMS: Mapping[str, Mapping[str, str]] = {
    "login": {"username": "nobody", "password": "wrong"},
    "upload-form": {"file": FILE},
    "upload-form:acme": {"file": FILE, "lab": "acme"},
    "upload-form:why": {"file": FILE, "reason": "wrong clock"},
    "upload-answer": {"set.node": "n77"},
    "upload-answer:umbra": {"set.node": "n77", "lab": "umbra"},
    "upload-replace": {"file": FILE},
    "upload-return": {"why": "Which BIOS?"},
    "upload-label": {"trust": "2", "not_ranked_because": "a shared machine"},
    "upload-schedule": {"publish_at": "SOON"},
    "upload-withdraw": {"reason": "wrong clock"},
    "upload-link": {"days": "7"},
    "api-upload-list": {"file": FILE},
    "api-upload-list:acme": {"file": FILE, "lab": "acme"},
    "api-upload-list:publish": {"file": FILE, "lab": "acme", "publish": "true"},
    "api-upload-list:dry": {"file": FILE, "lab": "acme", "dry_run": "true"},
    "api-upload-list:corrects": {"file": FILE, "corrects": "PUBLISHED", "reason": "wrong clock"},
    "api-upload-detail": {"set": "node=n77"},
    "api-upload-detail:umbra": {"set": "node=n77", "lab": "umbra"},
    "api-upload-detail:publish": {"set": "node=n77", "publish": "true"},
    "api-upload-publish:date": {"publish_at": "SOON"},
    "api-upload-withdraw": {"reason": "wrong clock"},
    "api-upload-return": {"note": "Which BIOS?"},
    "api-upload-label": {"trust": "vendor"},
    "job-new": {"benchmark": "stream", "host": "bench-1"},
    "api-job-list": {"benchmark": "stream", "host": "bench-1"},
    "api-job-list:repeat": {"run": "RUN", "host": "bench-1"},
    "api-job-list:draft": {"run": "DRAFT", "host": "bench-1"},
    "api-job-list:publish": {"benchmark": "stream", "host": "bench-1", "publish": "true"},
    "api-job-list:wrong": {"benchmark": "stream", "host": "bench-1", "parameters.ms": "--help"},
    "api-job-list:closed": {"benchmark": "stream", "host": "bench-2"},
}
