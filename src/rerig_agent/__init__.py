"""Target side of rerig: gathers evidence and runs measurements. Standard library only, Python 3.8 and newer."""

VERSION = "0.1.0"
