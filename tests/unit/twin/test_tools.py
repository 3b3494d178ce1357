"""Programs of this machine that are missing or fail: one sentence."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from twin import tools
from twin.architecture import AMD64, ARM64, architecture_named
from twin.errors import TwinError
from twin.machine import started_at
from twin.tools import host_packages, need, need_root, run
from waiting import wait_for


def test_a_missing_program_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(TwinError) as told:
        need("qemu-img", "zstd")
    assert str(told.value).startswith("qemu-img and zstd are missing; on Debian or Ubuntu: sudo apt-get install ")
    for package in ("qemu-utils", "zstd", "mmdebstrap"):
        assert package in str(told.value)


def test_the_list_of_packages_holds_names_alone() -> None:
    packages = host_packages()
    assert len(packages) == len(set(packages))
    assert all(package.replace("-", "").replace(".", "").replace("+", "").isalnum() for package in packages)


def test_a_failure_is_told_by_the_line_that_says_why() -> None:
    script = "echo E: Could not resolve 'a.b' >&2; echo E: Some index files failed to download. >&2; exit 100"
    with pytest.raises(TwinError, match=r"^Fetching failed: sh: E: Could not resolve a\.b$"):
        run(["sh", "-c", script], what="Fetching")


def test_output_comes_as_text_or_goes_to_a_file(tmp_path: Path) -> None:
    assert run(["cat"], what="Copying", stdin=b"data") == "data"
    assert run(["cat"], what="Copying", stdin=b"\0data", stdout=tmp_path / "out") == ""
    assert (tmp_path / "out").read_bytes() == b"\0data"


def test_a_program_that_hangs_is_told() -> None:
    with pytest.raises(TwinError, match=r"^Waiting failed: sleep has not ended after 0 s\.$"):
        run(["sleep", "600"], what="Waiting", limit_s=0.1)


def test_others_than_root_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(TwinError, match=r"takes root.*use sudo\.$"):
        need_root()


def test_an_unknown_architecture_is_told() -> None:
    assert architecture_named("arm64") is ARM64
    with pytest.raises(TwinError, match=r"^There is no twin for 'riscv64'; there is one for amd64 and arm64\.$"):
        architecture_named("riscv64")


def test_kvm_is_used_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RERIG_TWIN_KVM", raising=False)
    assert AMD64.acceleration == ["-accel", "tcg,thread=multi", "-cpu", "Nehalem"]
    monkeypatch.setenv("RERIG_TWIN_KVM", "1")
    assert AMD64.acceleration == ["-accel", "kvm", "-cpu", "host"]


def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what ignores the polite signal: it would go on writing where its folder is removed."""
    monkeypatch.setattr(tools, "ENDING_S", 0.2)
    script = f"trap '' TERM; (sleep 600 & echo $! > {tmp_path}/child; wait) & wait"
    with pytest.raises(TwinError, match=r"^Building failed: sh has not ended after 1 s\.$"):
        run(["sh", "-c", script], what="Building", limit_s=1)
    child = int((tmp_path / "child").read_text("ascii"))
    assert started_at(child) is None


def test_an_interrupted_program_ends_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(process: subprocess.Popen[bytes], *_: object) -> None:
        wait_for((tmp_path / "ready").exists)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(["sh", "-c", f"sleep 600 & echo $! > {tmp_path}/child; touch {tmp_path}/ready; wait"], what="Building")
    assert started_at(int((tmp_path / "child").read_text("ascii"))) is None
