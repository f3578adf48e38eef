"""What preflight writes is what later commands read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hyperpod_constructs.account.preflight import Learned, record
from hyperpod_constructs.account.preflight.record import Record

QUOTA = Learned(section="quotas", name="VPCs per Region", facts={"applied": 5})
WRITTEN = Record(
    account="111122223333",
    read=datetime(2026, 11, 30, 12, tzinfo=UTC),
    regions={"us-west-2": record.as_data([QUOTA])},
    unfinished={"us-west-2": ["subnets"]},
)


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    file.write_text(record.text(WRITTEN))
    assert record.read(file) == WRITTEN


def test_the_only_region_is_taken_where_none_is_said() -> None:
    assert WRITTEN.facts(None, "quotas", "VPCs per Region") == {"applied": 5}
    assert WRITTEN.facts("us-west-2", "quotas", "VPCs per Region") == {"applied": 5}


def test_what_was_not_learned_is_not_known() -> None:
    assert WRITTEN.facts("eu-north-1", "quotas", "VPCs per Region") is None
    assert WRITTEN.facts("us-west-2", "plans", "frontier") is None
