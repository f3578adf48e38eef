"""The version, as a constant: looking it up in installed metadata fails in a source tree."""

from typing import Final

VERSION: Final = "0.1.0"
