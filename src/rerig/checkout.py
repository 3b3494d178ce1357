"""Where this clone lies: rerig runs from its checkout and is never installed."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
