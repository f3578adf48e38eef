"""What runs on the nodes of a cluster; `docs/nodes.md` says what each step does."""

from __future__ import annotations
