"""The command line's tasks, composed. Their bodies are in src/rerig/tasks/; plain `inv` finds this file too."""

import sys
from pathlib import Path

SOURCES = str(Path(__file__).resolve().parent / "src")
if SOURCES not in sys.path:
    sys.path.insert(0, SOURCES)

from invoke.collection import Collection  # noqa: E402 - rerig is importable only from here on

from rerig.tasks import agent, dev, provision, published, rerun, results, runs, twin, verify  # noqa: E402 - as above

state = (provision.provision, verify.run_verify, provision.restore)
namespace = Collection(rerun.rerun, *state, dev.run_tests, dev.lint, dev.relock)
for module in (runs, results, published, agent, twin):
    namespace.add_collection(Collection.from_module(module))
