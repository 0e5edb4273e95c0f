"""Operating system, compilers and what else programs are built with or run on."""

from __future__ import annotations

import re

from runners.detect.words import Looked, Sheet

NUMBERS = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){1,3}(?![\w.-])")


def say_software(sheet: Sheet, looked: Looked) -> None:
    """What is there, also as fields of a run's setup."""
    for source in ("/etc/os-release", "/usr/lib/os-release"):
        if source in looked:
            _say(sheet, "os", "Operating system", pretty_name(looked[source]), source)
            break
    _say(sheet, "kernel", "Kernel", looked.get("uname -r", "").strip(), "uname -r")
    for name in ("cc", "gcc", "clang"):
        source = f"{name} --version"
        words = compiler_words(looked.get(source, ""))
        sheet.say(f"os.{name}", f"Compiler, {name}", words, source)
    sheet.set("compiler", compiler_words(looked.get("cc --version", "")))
    tools = (
        ("glibc", "glibc", "ldd --version", glibc_version),
        ("mpi", "MPI", "mpirun --version", mpi_words),
        ("jdk", "JDK", "java -version", java_words),
        ("python", "Python", "python3 --version", python_version),
    )
    for name, label, source, read in tools:
        _say(sheet, name, label, read(looked.get(source, "")), source)


def _say(sheet: Sheet, name: str, label: str, value: str, source: str) -> None:
    """To be shown, and for the setup under the same name."""
    sheet.say(f"os.{name}", label, value, source)
    sheet.set(name, value)


def pretty_name(text: str) -> str:
    """'Debian GNU/Linux 12 (bookworm)': the name under which the system presents itself."""
    for key in ("PRETTY_NAME", "NAME"):
        found = re.search(rf"(?m)^{key}=(.*)$", text)
        name = found[1].strip().strip("\"'") if found else ""
        if name:
            return name
    return ""


def compiler_words(text: str) -> str:
    """'GCC 12.2.0', 'Clang 14.0.6'; empty for what is neither."""
    line = text.partition("\n")[0]
    numbers = NUMBERS.findall(line)
    if not numbers:
        return ""
    if "clang" in line.lower():
        return f"Clang {numbers[0]}"
    # A distribution's own number stands in brackets before.
    is_gcc = "Free Software Foundation" in text or re.match(r"(?:\S*-)?g?cc(?:-\d+)?\b", line)
    return f"GCC {numbers[-1]}" if is_gcc else ""


def glibc_version(text: str) -> str:
    """'2.36'; empty for another C library."""
    found = re.match(
        r"ldd \(.{0,80}\) (\d{1,2}\.\d{1,3}(?:\.\d{1,3})?)\s*$", text.partition("\n")[0]
    )
    return found[1] if found else ""


def mpi_words(text: str) -> str:
    """'Open MPI 4.1.4', 'MPICH 4.0.2', 'Intel MPI 2021.11'."""
    found = re.search(r"\(Open MPI\) (\d[\w.]{0,30})", text)
    if found:
        return f"Open MPI {found[1]}"
    found = re.search(r"Intel\(R\) MPI Library.{0,60}Version (\d{4}[\w.]{0,20})", text)
    if found:
        return f"Intel MPI {found[1]}"
    found = re.search(r"HYDRA build details:\s+Version:\s+(\d[\w.]{0,30})", text)
    return f"MPICH {found[1]}" if found else ""


def java_words(text: str) -> str:
    """'OpenJDK 17.0.15'; other builds as 'Java 21.0.1'."""
    found = re.search(r'(?m)^(openjdk|java) version "([\w.+-]{1,40})"', text)
    if not found:
        return ""
    return f"{'OpenJDK' if found[1] == 'openjdk' else 'Java'} {found[2]}"


def python_version(text: str) -> str:
    """'3.11.7'."""
    found = re.match(r"Python (\d{1,2}\.\d{1,3}[\w.+]{0,20})\s*$", text)
    return found[1] if found else ""
