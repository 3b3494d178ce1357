"""Keeps the project itself in order: lint, tests on every Python, locks. Developers' side; no measurement needs it."""
