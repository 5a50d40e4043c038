"""`python -m corefeval`."""

import sys

from corefeval.cli import main

sys.exit(main())
