"""The comparison page by its address: what it shows, says and links to."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results.models import Comparison, Run, Summary, System
from tests.results.made import run, store, system
from tests.results.pages import read
from tests.results.test_charts import EPYC, SIX, VERA

pytestmark = pytest.mark.django_db

HTTP_BAD = 400
MOST_QUERIES = 12
MOST_BYTES = 150_000


def page(client: Client, query: str = "", *, status: int = 200) -> str:
    """The HTML of the page."""
    response = client.get(f"/compare/{query}")
    assert response.status_code == status
    return str(response.content.decode())


def links(html: str, text: str) -> list[str]:
    """The addresses of the links whose text begins with `text`."""
    found = re.findall(r'<a [^>]*href="([^"]*)"[^>]*>\s*(?:<b>)?([^<]*)', html)
    return [href.replace("&amp;", "&") for href, said in found if said.strip().startswith(text)]


def row(html: str, title: str, words: str) -> str:
    """The text of the table's line of that workload, measured on that."""
    for line in re.findall(r'<tr id="r-.*?</tr>', html, flags=re.DOTALL):
        text = " ".join(re.sub(r"<[^>]+>", " ", line).split())
        if text.startswith(title) and words in text:
            return text
    raise AssertionError(f"no line of {title}, {words}")


def count_queries(client: Client, query: str) -> int:
    with CaptureQueriesContext(connection) as context:
        assert client.get(f"/compare/{query}").status_code == 200
    return len(context)


def test_without_a_query_the_six_servers_stand_side_by_side(client: Client) -> None:
    html = page(client)
    heads = re.findall(r'<th scope="col" class="s\d">.*?<b>(.*?)</b>', html)
    assert heads == ["Vera", "EPYC 9965", "EPYC 9175F", "Xeon 6978P", "Xeon 6787P", "Xeon 8592+"]
    assert re.search(r'<span>2 × 192 cores</span><span class="isbase">baseline</span>', html)
    triad = row(html, "STREAM Triad", "own memory")
    assert "GB/s ↑ higher is better" in triad
    for part in ("2,073 best of the row 3.27×", "634 1", "651 1.03×", "914 1.44×", "479 0.76×"):
        assert part in triad


def test_a_number_leads_to_its_run(client: Client) -> None:
    html = page(client)
    found = re.search(r'<a class="v" href="(/runs/\d+/)"[^>]*>2,073', html)
    assert found
    number = Run.objects.get(pk=int(found[1].split("/")[2]))
    assert (number.system.slug, number.benchmark.slug) == (VERA, "stream")


def test_the_page_says_what_is_special_about_a_number(client: Client) -> None:
    html = page(client)
    assert '1,329<sup title="figure of a chart caption only">c</sup>' in html
    assert "≈0.5" in html
    assert '<span aria-hidden="true">–</span><span class="vh">not reported</span>' in html
    ranged = row(html, "ClickBench hot", "ClickHouse")
    assert "2.93–3.04 range" in ranged
    assert "other work" in row(html, "Kernel build", "SMT off")


def test_rows_of_one_system_and_rows_outside_the_mean_are_listed(client: Client) -> None:
    text = read(client, "/compare/")
    assert "6 rows that only one of the columns has" in text
    assert "STREAM Triad, system · interleaved · SMT off: Vera 1,372 GB/s" in text
    assert "of the ratios, over the seven rows that all six have 0.93× 1 0.58×" in text
    assert (
        "ClickBench hot, system · ClickHouse · SMT off: "
        "only a range from EPYC 9175F, Xeon 6787P, Xeon 8592+"
    ) in text


def test_baseline_of_the_address_is_the_one_that_ratios_are_against(client: Client) -> None:
    html = page(client, f"?baseline={VERA}")
    assert "634 0.31×" in row(html, "STREAM Triad", "own memory")
    (again,) = [href for href in links(html, "set as baseline") if EPYC in href] or [""]
    assert again in ("", f"?baseline={EPYC}")
    other = links(html, "set as baseline")[1]
    assert "1.03×" not in row(page(client, other), "STREAM Triad", "own memory")


def test_per_core_shows_divisors_and_ratios_of_the_normalised(client: Client) -> None:
    html = page(client, "?benchmark=stream/triad&per=core")
    line = row(html, "STREAM Triad", "own memory")
    assert "11.78 7.13× 176 cores" in line
    assert "20.34 best of the row 12.3× 32 cores" in line
    assert "GB/s per core" in line


def test_inferred_peaks_are_marked_and_counted(client: Client) -> None:
    html = page(client, "?per=peak&benchmark=stream/triad")
    assert '<small title="systems for which a source states the divisor">4 of 6</small>' in html
    marked = re.findall(r'>([\d.]+)<sup title="divided by an inferred number', html)
    assert marked == ["72.0", "78.5"]


def test_hammerdb_by_engine_has_a_column_for_each_version(client: Client) -> None:
    text = read(client, "/compare/?benchmark=hammerdb/tproc-c&factor=engine")
    assert "On Vera, HammerDB TPROC-C is 1.63× better with PostgreSQL 18.6" in text
    for key in ("Vera · PostgreSQL 18.6", "EPYC 9965 · MySQL 26.7.0", "Xeon 6787P · VillageSQL"):
        assert key in text
    assert "Nothing to set side by side under this factor: EPYC 9175F" in text


def test_a_pinned_column_stands_beside_its_other_state(client: Client) -> None:
    html = page(client, f"?system={VERA}@smt=off&system={VERA}@smt=on")
    assert "SMT off" in html
    assert "2.07 best of the row 1.17×" in row(html, "GROMACS benchPEP", "system")


def test_a_filter_keeps_rows_with_the_value_and_the_baseline(client: Client) -> None:
    html = page(client, "?param.smt=on")
    line = row(html, "GROMACS benchPEP", "SMT on")
    assert "5.30" in line
    assert "GROMACS benchPEP system · SMT off" not in read(client, "/compare/?param.smt=on")
    assert ">baseline<" in html
    assert "?param.smt=off" in links(html, "off")


@pytest.mark.parametrize(
    ("query", "key", "value"),
    [
        (f"?baseline={VERA}", "baseline", VERA),
        ("?per=core", "per", "core"),
        ("?factor=smt", "factor", "smt"),
        ("?benchmark=stream", "benchmark", "stream"),
        ("?param.smt=on", "param.smt", "on"),
    ],
)
def test_every_link_of_the_controls_carries_the_rest_of_the_state(
    client: Client, query: str, key: str, value: str
) -> None:
    html = page(client, query).replace("&amp;", "&")
    addresses = re.findall(r'<a href="(\?[^"]*)" aria-label="Remove (?!Vera)', html)
    segments = r'<span>([^<]*)</span><span class="seg">(.*?)</span></div>'
    for label, part in re.findall(segments, html):
        if label != {"per": "Normalise", "param.smt": "SMT"}.get(key):
            addresses += re.findall(r'href="(\?[^"]*)"', part)
    assert len(addresses) > 8
    for address in addresses:
        assert parse_qs(urlsplit(address).query)[key] == [value]
    for address in addresses[:3]:
        assert client.get(f"/compare/{address}").status_code == 200


def test_removing_the_baseline_frees_it(client: Client) -> None:
    html = page(client)
    remove = re.search(r'href="(\?[^"]*)" aria-label="Remove EPYC 9965"', html)
    assert remove
    address = remove[1].replace("&amp;", "&")
    assert EPYC not in address
    text = page(client, address)
    assert re.search(r"<b>Vera</b>.*?class=\"isbase\"", text, flags=re.DOTALL)
    assert re.search(r'<i class="sw s3" aria-hidden="true"></i><b title="[^"]*">EPYC 9175F', text)


def test_a_baseline_of_another_factor_falls_back_to_its_system(client: Client) -> None:
    html = page(client, f"?baseline={VERA}@smt=on")
    assert "634 0.31×" in row(html, "STREAM Triad", "own memory")


def test_a_system_is_found_and_added_without_script(client: Client) -> None:
    html = page(client, "?find=x5570")
    assert '<details id="add-system" open>' in html
    boxes = re.findall(r'<input type="checkbox" name="system" value="([^"]*)"', html)
    assert boxes == ["hpct-dper610-xeon-x5570"]
    picker = re.search(r'class="picker">.*?</form>', html, flags=re.DOTALL)
    assert picker
    hidden = re.findall(r'<input type="hidden" name="system" value="([^"]*)"', picker[0])
    assert hidden == list(SIX)
    query = "&".join(f"system={slug}" for slug in [*hidden, *boxes])
    assert "Comparison of seven systems" in read(client, f"/compare/?{query}")


def test_a_search_without_a_match_says_so(client: Client) -> None:
    html = page(client, "?find=no+such+machine")
    assert '<p class="note" id="systems-empty">' in html


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?system=foo", "system 'foo' is not known"),
        (f"?system={VERA}&system=dell-r7725-epyc-996", f"did you mean {EPYC}"),
        ("?system=a@", "expected slug or slug@name=value"),
        (f"?system={VERA}@foo=1", "system 'foo' is not known"),
        ("?benchmark=strem", "did you mean stream"),
        ("?benchmark=stream/tirad", "did you mean triad"),
        ("?factor=smtt", "did you mean smt"),
        ("?per=cor", "did you mean core"),
        ("?axis=thread", "did you mean threads"),
        ("?baseline=foo", "column 'foo' is not known"),
        ("?param.foo=1", "'foo' is not known"),
        ("?system=%00", "control character"),
        ("?system=" + "x" * 10_000, "expected at most"),
        ("?" + "&".join(f"system={VERA}@smt=v{at}" for at in range(60)), "found 60 columns"),
    ],
)
def test_what_is_wrong_is_said_with_a_form_to_mend_it(
    client: Client, query: str, said: str
) -> None:
    text = read(client, f"/compare/{query}", status=HTTP_BAD)
    assert "This comparison cannot be made" in text
    assert said in text
    html = page(client, query, status=HTTP_BAD)
    assert 'class="picker"' in html
    for mended in links(html, "Compare without them"):
        assert client.get(f"/compare/{mended}").status_code == 200


def test_known_systems_survive_the_mending(client: Client) -> None:
    html = page(client, f"?system=foo&system={VERA}&per=core&factor=bar", status=HTTP_BAD)
    assert links(html, "Compare without them") == [f"?system={VERA}&per=core"]
    assert "system 'foo' is not known" in read(
        client, f"/compare/?system=foo&system={VERA}&factor=bar", status=HTTP_BAD
    )


def test_names_that_are_not_known_are_left_aside_and_named(client: Client) -> None:
    assert "Not understood, and left aside: 'foo' is not known" in read(client, "/compare/?foo=1")


def test_systems_without_a_common_row_are_listed_each_by_itself(client: Client) -> None:
    store(
        system("a"),
        system("b"),
        run("a", "triad.bandwidth", 1.0),
        run("b", "copy.bandwidth", 2.0),
    )
    text = read(client, "/compare/?system=a&system=b")
    assert "CPU a and CPU b side by side" in text
    assert "These columns have no row in common" in text
    assert "STREAM Copy, system · own memory: CPU b 2 GB/s" in text


def test_a_system_without_results_has_a_page_that_says_so(client: Client) -> None:
    System.objects.create(slug="bare", name="Bare machine")
    text = read(client, "/compare/?system=bare")
    assert "nothing has been measured here" in text
    assert "These systems have no row to show" in text


def test_without_any_data_the_page_asks_for_systems(client: Client) -> None:
    Comparison.objects.all().delete()
    assert "Choose the systems to compare" in read(client, "/compare/")
    Summary.objects.all().delete()
    assert "No system has a published result here yet" in read(client, "/compare/")


def test_several_runs_show_their_number_and_range(client: Client) -> None:
    days = [f"2026-10-0{day}T00:00:00Z" for day in (1, 2, 3)]
    values = (100.0, 104.0, 99.0)
    runs = [
        run("a", "triad.bandwidth", value, started_at=day)
        for value, day in zip(values, days, strict=True)
    ]
    store(system("a"), system("b"), *runs, run("b", "triad.bandwidth", 50.0))
    html = page(client, "?system=a&system=b")
    assert "100 best of the row 1 n = 3, 99–104" in row(html, "STREAM Triad", "own memory")
    assert "Up to three runs stand behind a figure" in html


def test_a_curve_is_offered_only_where_there_are_points_to_draw(client: Client) -> None:
    assert '<select name="axis">' not in page(client)
    sweep = [
        run("a", "triad.bandwidth", 10.0 * n, parameters={"threads": n}, scope="cores")
        for n in (1, 2, 4)
    ]
    store(system("a"), *sweep)
    assert '<option value="threads">Threads</option>' in page(client, "?system=a")
    html = page(client, "?system=a&axis=threads")
    assert '<option value="threads" selected>Threads</option>' in html
    assert 'data-kind="curve"' in html
    twin = " ".join(re.sub(r"<[^>]+>", " ", html[html.index('class="nt"') :]).split())
    assert "1 10 n = 1 2 20 n = 1 4 40 n = 1" in twin


def test_names_are_escaped_wherever_they_stand(client: Client) -> None:
    name = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
    bad = system("bad")
    bad["processors"][0]["name"] = name[:100]
    store(
        bad,
        system("good"),
        run("bad", "triad.bandwidth", 2.0),
        run("good", "triad.bandwidth", 1.0),
    )
    html = page(client, "?system=bad&system=good")
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;alert(&#x27;x&#x27;)" in html


def test_each_figure_has_heading_measure_bars_twin_source_and_links(client: Client) -> None:
    html = page(client, "?benchmark=openfoam")
    (figure,) = re.findall(r"<figure.*?</figure>", html, flags=re.DOTALL)
    assert '<p class="no">Figure 1</p>' in figure
    assert "is ahead in large, " in figure
    assert "OpenFOAM: s, lower is better. System · driverFastback. n = 1 each." in figure
    assert figure.count('<div class="br">') == 12
    assert 'style="--v:42.4"></span><a class="bn" href="/runs/' in figure
    assert figure.count('<tr><th scope="row">') == 12
    assert '<a href="#src-1">StorageReview, November 2026</a>' in figure
    (csv,) = links(figure, "CSV")
    assert client.get(csv).status_code == 200
    assert 'id="src-1"' in html


def test_a_stored_comparison_leads_to_its_state(client: Client) -> None:
    stored = Comparison.objects.get(is_default=True)
    response = client.get(f"/comparisons/{stored.slug}/")
    assert response.status_code == 302
    query = parse_qs(urlsplit(response["Location"]).query)
    assert query["system"] == list(SIX)
    assert query["baseline"] == [EPYC]
    assert client.get(response["Location"]).status_code == 200
    assert client.get("/comparisons/no-such/").status_code == 404


def test_queries_are_few_and_as_many_with_a_thousand_runs(client: Client) -> None:
    queries = ("", "?factor=smt", "?per=core&axis=threads", "?find=xeon", f"?system={VERA}")
    client.get("/compare/")
    before = [count_queries(client, query) for query in queries]
    assert max(before) <= MOST_QUERIES
    for lot in range(5):
        store(
            *(
                run(
                    SIX[at % len(SIX)],
                    "triad.bandwidth",
                    100.0 + at,
                    started_at=f"2026-0{lot + 1}-{at // 24 + 1:02}T{at % 24:02}:00:00Z",
                    parameters={"placement": "all", "threads": at % 40 + 1},
                )
                for at in range(200)
            )
        )
    assert Run.objects.count() > 1000
    assert [count_queries(client, query) for query in queries] == before


def test_the_whole_page_of_six_servers_is_light(client: Client) -> None:
    assert len(gzip.compress(page(client).encode())) < MOST_BYTES / 3


class Checker(HTMLParser):
    """Notes ids that are there twice, links within the page, scripts and handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: set[str] = set()
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [found["id"] or ""] if "id" in found else []
        href = found.get("href") or ""
        if href.startswith("#"):
            self.targets.add(href[1:])
        if tag == "script" and "src" not in found and found.get("type") != "application/json":
            self.inline.append(tag)
        self.inline += [name for name in found if name.startswith("on")]


@pytest.mark.parametrize("query", ["", "?factor=engine", "?per=peak", "?system=stream-nec-sx-7"])
def test_links_within_the_page_have_targets_and_no_script_is_inline(
    client: Client, query: str
) -> None:
    checker = Checker()
    checker.feed(page(client, query))
    assert len(checker.ids) == len(set(checker.ids))
    assert checker.targets <= set(checker.ids)
    assert checker.inline == []
