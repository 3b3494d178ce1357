"""Which L4T and which CUDA: shown as they are, known or not."""

from __future__ import annotations

from rerig.verify_checks import Check, Look


def test_l4t_release(look: Look, check: Check) -> None:
    check.what = "L4T"
    check.needs_a_jetson(look)
    release = look.verdict["board"]["release"]
    package = look.packages.get("nvidia-l4t-core")
    found = f"{release or 'unknown'} (nvidia-l4t-core {package})" if package else release or "unknown"
    check.compare(found, "", release is not None, "Which L4T this is can't be read from /etc/nv_tegra_release.")


def test_cuda(look: Look, check: Check) -> None:
    check.what = "CUDA"
    check.needs_a_jetson(look)
    names = ("nvidia-jetpack", "cuda-toolkit", "tensorrt")
    found = [f"{name} {version}" for name, version in look.packages.items() if name.startswith(names)]
    check.found = "\n".join(found) or "no CUDA toolkit is installed"
