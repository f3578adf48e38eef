"""Where the scripts of a cluster lie, as patterns of what S3 actions name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import Lifecycle, is_generated


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSource:
    """Where scripts lie, as patterns of what S3 actions name.

    Attributes:
        uri: As written, or its known beginning and `*`.
        bucket: Name of the bucket, or its known beginning and `*`.
        keys: Pattern of the keys of the scripts.
        decided: Whether nothing of the prefix is left to the deploy.
    """

    uri: str
    bucket: str
    keys: str
    decided: bool

    @classmethod
    def at(cls, uri: str) -> ScriptSource:
        """The source of an S3 URI."""
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        prefix = prefix.strip("/")
        decided = not uri.endswith("*")
        return cls(uri=uri, bucket=bucket, keys=f"{prefix}/*" if prefix and decided else f"{prefix}*", decided=decided)

    @property
    def objects(self) -> str:
        """Pattern of the ARNs of the scripts."""
        return f"arn:*:s3:::{self.bucket}/{self.keys}"

    @property
    def any_stack(self) -> bool:
        """Whether the bucket's name begins with that of a stack which is not known."""
        return self.bucket.startswith("<")

    @property
    def is_known(self) -> bool:
        """Whether nothing of the whole address is left to the deploy."""
        return "*" not in self.uri and not is_generated(self.bucket)

    def surely_in(self, resource: str) -> bool:
        """Whether a resource that overlaps holds scripts, whatever the deploy puts in place of a `*`."""
        if resource == "*":
            return True
        named, literal = names(resource)
        if literal == self.bucket:
            return named == self.bucket
        known_part = names(self.objects)[1]
        return literal.startswith(f"{self.bucket}/") and (self.decided or known_part.startswith(literal))

    def perhaps_in(self, resource: str) -> bool:
        """Whether a resource that overlaps and this source both name something, so that they can mean the same."""
        return self.bucket != "*" and names(resource)[1] != ""


def names(resource: str) -> tuple[str, str]:
    """Bucket and key that an ARN of S3 names, and what of that stands before the first wildcard."""
    named = resource.partition(":::")[2]
    return named, re.split(r"[*?]", named, maxsplit=1)[0]


def sources(cluster: Cluster) -> list[ScriptSource]:
    """Where a cluster's scripts lie, as far as known."""
    given = (group.lifecycle for group in cluster.groups)
    uris = dict.fromkeys(each.source_uri for each in given if isinstance(each, Lifecycle))
    return [ScriptSource.at(uri) for uri in uris if isinstance(uri, str) and uri.startswith("s3://")]
