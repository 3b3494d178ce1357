"""Target side of rerig: gathers evidence and runs measurements. Standard library only, Python 3.8 and up."""

VERSION = "0.1.0"
