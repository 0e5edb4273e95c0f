"""Our own kernels: built once, strict in what they take, right in what they compute."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from results.bundle import BundleError
from results.formats import parse
from results.formats.base import File
from runners import kernels
from runners.kernels import build, build_all, compiler, flags, has_numa, has_openmp

SMALL = ("--elements=100003", "--threads=2", "--passes=3")
ARM = os.uname().machine in {"aarch64", "arm64"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kernels, compiled."""
    folder = tmp_path_factory.mktemp("kernels")
    assert build_all(folder) == []
    return folder


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kernels' source, copied where a test may change it."""
    copied = tmp_path / "sources"
    shutil.copytree(kernels.SOURCES, copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernels, "SOURCES", copied)
    return copied


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The bandwidth kernel with these arguments."""
    return subprocess.run(
        (build("bandwidth", folder).path, *arguments),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": os.environ["PATH"], **env},
    )


def test_every_kernel_is_compiled_once_and_nothing_else_is_left(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    assert [name.rpartition("-")[0] for name in names] == sorted(
        source.stem for source in kernels.SOURCES.glob("*.c")
    )
    assert build("bandwidth", folder).steps == ()
    assert os.access(build("bandwidth", folder).path, os.X_OK)


def test_a_program_is_made_beside_and_renamed(tmp_path: Path) -> None:
    built = build("bandwidth", tmp_path)
    first, second = built.steps
    beside = first.argv[first.argv.index("-o") + 1]
    assert Path(beside).parent == Path(built.path).parent == tmp_path
    assert Path(beside).name.startswith(".")
    assert second.argv[1:] == ("-f", "-T", beside, built.path)
    assert not first.measures
    assert not second.measures
    assert not Path(built.path).exists()


def test_two_builds_at_once_do_not_meet(tmp_path: Path) -> None:
    one, two = build("bandwidth", tmp_path), build("bandwidth", tmp_path)
    assert one.path == two.path
    assert one.steps[1].argv[3] != two.steps[1].argv[3]


@pytest.mark.parametrize("name", ["bandwidth.c", "common.h"])
def test_another_source_is_another_program(folder: Path, sources: Path, name: str) -> None:
    before = build("bandwidth", folder).path
    with (sources / name).open("a") as source:
        source.write("\n/* changed */\n")
    after = build("bandwidth", folder)
    assert after.path != before
    assert len(after.steps) == 2


def test_another_cpu_is_another_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build("bandwidth", folder).path
    monkeypatch.setattr(kernels, "_cpu", lambda: "another")
    assert build("bandwidth", folder).path != before


def test_the_flags_are_those_of_the_measure_and_are_recorded(folder: Path) -> None:
    found = compiler()
    assert found is not None
    assert flags(found)[:3] == ("-O3", "-mcpu=native" if ARM else "-march=native", "-fopenmp")
    said = run(folder, *SMALL).stdout
    assert f"Compiler flags: {' '.join(flags(found))}\n" in said
    assert f"Compiler: {found.words}\n" in said


def test_without_a_compiler_it_is_said_and_nothing_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler() is None
    with pytest.raises(LookupError, match="install gcc"):
        build("bandwidth", tmp_path)
    problems = build_all(tmp_path)
    assert "The bandwidth kernel was not compiled: no C compiler: install gcc" in problems


def test_a_compiler_that_does_not_work_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert compiler() is None


def test_what_the_compiler_says_is_told(tmp_path: Path, sources: Path) -> None:
    (sources / "bandwidth.c").write_text("int main(void) { return no_such_name; }\n")
    problems = build_all(tmp_path / "made")
    (told,) = [problem for problem in problems if "bandwidth" in problem]
    assert "error" in told
    assert "no_such_name" in told
    assert not list((tmp_path / "made").glob("*bandwidth*"))


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    problems = build_all(tmp_path / "file" / "kernels")
    assert len(problems) == len(list(kernels.SOURCES.glob("*.c")))


def test_what_ended_compilations_left_is_swept_after_an_hour(folder: Path) -> None:
    old, new = folder / ".bandwidth-0.1", folder / ".bandwidth-0.2"
    for left in (old, new):
        left.write_text("half")
    hours_ago = time.time() - 2 * kernels.STALE_S
    os.utime(old, (hours_ago, hours_ago))
    assert build_all(folder) == []
    assert (old.exists(), new.exists()) == (False, True)
    new.unlink()


def disassembled(folder: Path, function: str) -> str:
    command = ("objdump", "-d", f"--disassemble={function}", build("bandwidth", folder).path)
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize("kernel", ["copy", "scale", "add", "triad"])
def test_plain_stores_stay_plain_and_streaming_ones_stream(folder: Path, kernel: str) -> None:
    streaming = r"\bv?movnt|\bstnp\b"
    plain = disassembled(folder, f"plain_{kernel}")
    assert f"<plain_{kernel}>:" in plain
    assert not re.search(rf"{streaming}|mem(?:cpy|move|set)", plain)
    assert re.search(streaming, disassembled(folder, f"streaming_{kernel}"))


@pytest.mark.parametrize("stores", ["plain", "streaming"])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("elements", [64, 1000, 100_003])
def test_every_element_is_right_whatever_the_parts(
    folder: Path, stores: str, threads: int, elements: int
) -> None:
    done = run(
        folder,
        f"--elements={elements}",
        f"--threads={threads}",
        "--passes=1000" if elements == 64 else "--passes=4",
        f"--stores={stores}",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"(?m)^Validation: passed, .*\nFinished$", done.stdout)
    (got,) = parse(File("made.txt", done.stdout.encode())).runs
    assert got.parameters["threads"] == threads
    assert got.parameters["array_elements"] == elements
    assert got.parameters["streaming_stores"] == ("yes" if stores == "streaming" else "no")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("c[i] = a[i];", "c[i] = a[begin];"),
        ("b[i] = Q * c[i];", "b[i] = 0.5 * c[i];"),
        ("c[i] = a[i] + b[i];", "c[i] = a[i] - b[i];"),
        ("a[i] = b[i] + Q * c[i];", "a[i] = b[i] + Q * c[i] * (1 + 1e-11);"),
        (
            "for (size_t i = begin; i < end; i++)\n        a[i]",
            "for (size_t i = begin; i < end - 1; i++)\n        a[i]",
        ),
        ("a[i] = b[i] + Q * c[i];", "a[i] = 0.0 / 0.0;"),
    ],
    ids=["copy", "scale", "add", "triad", "one-element", "nan"],
)
def test_a_kernel_that_computes_wrongly_fails_its_own_check(
    tmp_path: Path, sources: Path, right: str, wrong: str
) -> None:
    source = sources / "bandwidth.c"
    text = source.read_text()
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    (sources / "latency.c").unlink(missing_ok=True)
    assert build_all(tmp_path / "made") == []
    done = run(tmp_path / "made", *SMALL)
    assert done.returncode == 1
    assert "Finished" not in done.stdout
    with pytest.raises(BundleError, match="Validation: failed"):
        parse(File("made.txt", done.stdout.encode()))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--elements=100",), "--elements and --threads are needed"),
        (("--elements=-5", "--threads=1"), "--elements: found '-5', expected a whole number"),
        (("--elements=1e6", "--threads=1"), "--elements: found '1e6'"),
        (("--elements=", "--threads=1"), "--elements: found ''"),
        ((*SMALL, "--elements=99999999999999999999"), "expected a whole number"),
        ((*SMALL, "--threads=0"), "--threads: found 0, expected 1 to 4096"),
        ((*SMALL, "--threads=4096", "--elements=64"), "expected at least 8 for each thread"),
        ((*SMALL, "--passes=1"), "--passes: found 1, expected 2 to 1000"),
        ((*SMALL, "--stores=fast"), "--stores: found 'fast', expected one of: plain streaming"),
        ((*SMALL, "--placement=here"), "expected one of: all local remote interleave"),
        ((*SMALL, "--placement=remote"), "--placement=remote needs --nodes"),
        ((*SMALL, "--nodes=0"), "--nodes says nothing for --placement=all"),
        ((*SMALL, "--help"), "the argument '--help' is not known"),
        ((*SMALL, "passes=5"), "the argument 'passes=5' is not known"),
    ],
)
def test_wrong_arguments_are_refused_in_words(
    folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = run(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("refused: ")
    assert told in done.stderr


def test_fewer_threads_than_asked_for_are_no_result(folder: Path) -> None:
    done = run(folder, *SMALL, OMP_THREAD_LIMIT="1")
    assert done.returncode == 2
    assert "2 threads were asked for, 1 ran" in done.stderr
    assert "Finished" not in done.stdout


def test_memory_is_placed_on_nodes_where_libnuma_is(folder: Path) -> None:
    found = compiler()
    assert found is not None
    done = run(folder, *SMALL, "--placement=interleave", "--nodes=0")
    if has_numa(found):
        assert "Nodes of the memory: 0\n" in done.stdout
        assert done.stdout.endswith("Finished\n")
    else:
        assert "built without libnuma" in done.stderr


def test_nodes_that_are_not_there_are_refused(folder: Path) -> None:
    done = run(folder, *SMALL, "--placement=remote", "--nodes=999")
    assert done.returncode == 2
    assert "refused: memory of nodes 999" in done.stderr


def test_a_cache_larger_than_a_quarter_of_an_array_is_noted(folder: Path) -> None:
    note = "Note: an array should be at least 4 times as large"
    size = 100_003 * 8
    assert note in run(folder, *SMALL, f"--llc-bytes={size // 4 + 1}").stdout
    assert note not in run(folder, *SMALL, f"--llc-bytes={size // 4}").stdout


def test_each_pass_is_told_when_it_is_over(folder: Path) -> None:
    command = (build("bandwidth", folder).path, "--elements=500000", "--threads=1", "--passes=1000")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        told = next(line for line in running.stdout if line.startswith("Pass "))
        assert told.startswith("Pass 1 of 1000: copy ")
        assert running.poll() is None
        running.kill()


def test_openmp_is_found_by_compiling_with_it() -> None:
    found = compiler()
    assert found is not None
    assert has_openmp(found)
    assert not kernels._compiles(found, "#include <no_such_header.h>\n")
