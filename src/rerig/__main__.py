"""``python -m rerig``: what ./inv hands over to."""

import sys

from rerig.cli import main

sys.exit(main())
