"""Tasks about the agent, the part that runs on the target."""

from __future__ import annotations

from invoke.context import Context
from invoke.tasks import task

from rerig.checkout import ROOT


@task(help={"out": "The file to write (default: dist/rerig-agent.pyz)"})
def build(context: Context, out: str = "") -> None:
    """Pack the agent into one file that runs by itself: python3 rerig-agent.pyz --help."""
    from rerig.zipapp import build_agent

    agent = build_agent(out or ROOT / "dist" / "rerig-agent.pyz")
    print(f"{agent['path']}\nversion {agent['version']}\nsha256 {agent['sha256']}")
