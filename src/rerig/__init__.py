"""Controller side of rerig: plans, starts, builds, validates, compares and shows measurements."""

VERSION = "0.1.0"
