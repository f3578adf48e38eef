"""A field of a wrong type is named where it is written, at any depth; a token or a list for a tuple is none."""

from __future__ import annotations

from typing import Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.model.annotations import check_fields

TOKEN, NUMBER_TOKEN, LIST_TOKEN = "${Token[TOKEN.1]}", -1.8881545897087503e289, ["#{Token[TOKEN.2]}"]
PLAN: dict[str, Any] = {"count": 32, "zone": "usw2-az2", "starts": "2026-12-07", "ends": "2027-02-14"}


def group(**fields: Any) -> hp.InstanceGroup:
    return hp.InstanceGroup(**{"name": "p5", "count": 1, **fields})


class TestCheckFields:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (group(instance_type=3), "group 'p5': instance_type is 3, an int; use text or None"),
            (group(zone=b"x"), "zone is b'x', a bytes; use text or None"),
            (group(spares=None), "spares is None; use a whole number"),
            (group(volumes=[3]), "volumes[0] is 3, an int; use hp.NodeVolume"),
            (group(volumes=[hp.NodeVolume(kms_key=3)]), "volumes[0].kms_key is 3, an int; use text or None"),  # type: ignore[arg-type]  # the point
            (group(partitions=("a", 3)), "partitions[1] is 3, an int; use text"),
            (group(partitions="abc"), "partitions is 'abc', a str; use a list of text"),
            (
                group(count=NUMBER_TOKEN, instance_type=NUMBER_TOKEN),
                "instance_type is -1.8881545897087503e+289, a float; use text",
            ),
            (group(min_count=TOKEN), "min_count is '${Token[TOKEN.1]}', a str; use a whole number or None"),
            (group(zone=LIST_TOKEN), "zone is ['#{Token[TOKEN.2]}'], a list; use text or None"),
            (group(volumes=LIST_TOKEN), "volumes[0] is '#{Token[TOKEN.2]}', a str; use hp.NodeVolume"),
            (group(partitions=range(3)), "partitions is range(0, 3), a range; use a list of text"),
            (
                group(capacity=hp.TrainingPlan("frontier", **{**PLAN, "zone": 2.5})),
                "capacity.zone is 2.5, a float; use text or None",
            ),
            (
                group(capacity=hp.Spot),
                "capacity is the class Spot itself; use hp.OnDemand or hp.Spot or hp.TrainingPlan or None",
            ),
        ],
    )
    def test_names_the_field_and_what_to_write(self, wrong: hp.InstanceGroup, message: str) -> None:
        with pytest.raises(hp.InvalidValue) as refused:
            check_fields("group 'p5': ", wrong)
        assert message in str(refused.value)

    @pytest.mark.parametrize(
        "right",
        [
            group(),
            group(instance_type=TOKEN, count=NUMBER_TOKEN, partitions=LIST_TOKEN),
            group(partitions=[TOKEN], volumes=[hp.NodeVolume(size_gib=500)]),
            group(capacity=hp.TrainingPlan("frontier", **PLAN), network_interface="efa"),
            group(health_checks=LIST_TOKEN, network_interface=TOKEN, min_count=NUMBER_TOKEN),
            group(described=hp.InstanceType("ml.p7.48xlarge", memory_gib=2048)),
            group(patching=hp.AutoPatch(when=TOKEN)),  # type: ignore[arg-type]  # a token
        ],
    )
    def test_takes_what_is_declared_tokens_and_lists(self, right: hp.InstanceGroup) -> None:
        check_fields("group 'p5': ", right)

    def test_true_is_no_number(self) -> None:
        database = hp.ExternalDatabase(endpoint="db", secret_arn=True)  # type: ignore[arg-type]  # the point
        with pytest.raises(hp.InvalidValue, match=r"accounting\.secret_arn is True, a bool; use text"):
            check_fields("slurm: ", hp.Slurm(accounting=database))

    def test_words_that_decide_what_is_made_are_known_at_synth(self) -> None:
        late = hp.Slurm(provisioning=TOKEN)  # type: ignore[arg-type]  # the point
        with pytest.raises(hp.InvalidValue, match="a str; use 'continuous' or 'all-or-nothing'"):
            check_fields("slurm: ", late)

    def test_looks_into_dictionaries(self) -> None:
        config = hp.KubernetesConfig(labels={"team": 3})  # type: ignore[dict-item]  # the point
        with pytest.raises(hp.InvalidValue, match=r"kubernetes\.labels\['team'\] is 3, an int; use text"):
            check_fields("group 'p5': ", group(kubernetes=config))
