"""`python -m hyperpod_constructs.cli`: the `hyperpod` command where its script is not installed."""

import sys

from hyperpod_constructs.cli import main

if __name__ == "__main__":
    sys.exit(main())
