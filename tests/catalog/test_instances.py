import os
import subprocess
import sys

import pytest

from hyperpod_constructs.catalog import instances
from hyperpod_constructs.catalog.instances import Accelerator, InstanceType
from hyperpod_constructs.errors import InvalidValue
from tests.counting import calls


def known(name: str) -> InstanceType:
    found = instances.find(name)
    assert found is not None
    return found


class TestTable:
    def test_p5_is_what_ec2_says(self) -> None:
        p5 = known("ml.p5.48xlarge")
        assert (p5.vcpus, p5.memory_gib, p5.local_disk_gb, p5.architecture) == (192, 2048, 30_400, "x86_64")
        assert (p5.efa, p5.efa_interfaces, p5.network_cards, p5.ipv4_per_interface) == (32, 32, 32, 50)
        assert p5.accelerator == Accelerator(kind="gpu", name="H100", count=8, memory_gib_each=80)
        assert (p5.accelerators, p5.is_accelerated, p5.threads_per_core) == (8, True, (1, 2))
        assert {"us-east-1", "us-west-2"} <= set(p5.regions)

    def test_cpu_types_have_no_accelerators_rather_than_unknown_ones(self) -> None:
        m5 = known("ml.m5.4xlarge")
        assert (m5.accelerators, m5.accelerator, m5.is_accelerated, m5.efa) == (0, None, False, 0)

    def test_graviton_has_one_thread_per_core(self) -> None:
        assert known("ml.m6g.large").threads_per_core == (1,)
        assert known("ml.m6g.large").architecture == "arm64"

    @pytest.mark.parametrize(
        ("name", "memory_gib", "accelerator"),
        [
            ("ml.trn2.48xlarge", 2048, Accelerator(kind="neuron", name="Trainium2", count=16, memory_gib_each=96)),
            ("ml.trn2.3xlarge", 128, Accelerator(kind="neuron", name="Trainium2", count=1, memory_gib_each=96)),
        ],
    )
    def test_trainium2_memory_is_corrected(self, name: str, memory_gib: int, accelerator: Accelerator) -> None:
        assert (known(name).memory_gib, known(name).accelerator) == (memory_gib, accelerator)

    def test_what_no_source_says_of_gb200_is_unknown(self) -> None:
        gb200 = known("ml.p6e-gb200.36xlarge")
        assert (gb200.vcpus, gb200.memory_gib, gb200.accelerators, gb200.ultraserver) == (144, 960, 4, True)
        assert (gb200.efa, gb200.network_cards, gb200.max_pods, gb200.threads_per_core) == (None, None, None, None)
        assert (gb200.addresses_on_slurm, gb200.addresses_on_eks, gb200.regions) == (None, None, ())

    @pytest.mark.parametrize(
        ("name", "vcpus", "accelerators", "memory_gib", "efa"),
        [
            ("ml.p4d.24xlarge", 96, 8, 1152, 4),
            ("ml.p5.4xlarge", 16, 1, 256, 1),
            ("ml.p5en.48xlarge", 192, 8, 2048, 16),
            ("ml.p6-b200.48xlarge", 192, 8, 2048, 8),
            ("ml.p6-b300.48xlarge", 192, 8, 4096, 16),
            ("ml.trn1.32xlarge", 128, 16, 512, 8),
            ("ml.trn1n.32xlarge", 128, 16, 512, 16),
            ("ml.g5.48xlarge", 192, 8, 768, 1),
            ("ml.g6e.24xlarge", 96, 4, 768, 2),
            ("ml.g6e.48xlarge", 192, 8, 1536, 4),
            ("ml.g7e.48xlarge", 192, 8, 2048, 4),
            ("ml.c5n.18xlarge", 72, 0, 192, 1),
            ("ml.m5.24xlarge", 96, 0, 384, 0),
        ],
    )
    def test_agrees_with_the_table_of_the_hyperpod_cli(
        self, name: str, vcpus: int, accelerators: int, memory_gib: int, efa: int
    ) -> None:
        found = known(name)
        assert (found.vcpus, found.accelerators, found.memory_gib, found.efa) == (vcpus, accelerators, memory_gib, efa)

    def test_unknown_names_are_not_found(self) -> None:
        assert instances.find("p5.48xlarge") is None

    def test_importing_reads_no_file(self) -> None:
        code = (
            "import sys\n"
            "opened = []\n"
            "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
            "from hyperpod_constructs.catalog import instances, prices, regions, limits, lustre\n"
            "assert not [path for path in opened if path.endswith('.json')], opened\n"
            "instances.names(); assert [path for path in opened if path.endswith('instances.json')]\n"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)  # our own code


class TestAddresses:
    def test_p5_is_documented(self) -> None:
        slurm, eks = known("ml.p5.48xlarge").addresses_on_slurm, known("ml.p5.48xlarge").addresses_on_eks
        assert slurm is not None
        assert eks is not None
        assert (slurm.count, slurm.documented, eks.count, eks.documented) == (32, True, 81, True)
        assert "sagemaker-hyperpod-prerequisites" in eks.source

    def test_the_rules_reproduce_the_documented_numbers(self) -> None:
        # p5e has the network of p5 and no documented number, so its numbers come from the rules.
        slurm, eks = known("ml.p5e.48xlarge").addresses_on_slurm, known("ml.p5e.48xlarge").addresses_on_eks
        assert slurm is not None
        assert eks is not None
        assert (slurm.count, slurm.documented, eks.count, eks.documented) == (32, False, 81, False)

    @pytest.mark.parametrize(
        ("name", "slurm", "eks"),
        [
            ("ml.p4d.24xlarge", 4, 53),
            ("ml.p4de.24xlarge", 4, 53),
            ("ml.p5en.48xlarge", 16, 65),
            ("ml.p6-b200.48xlarge", 8, 57),
            ("ml.p6-b300.48xlarge", 17, 66),
            ("ml.trn1.32xlarge", 8, 57),
            ("ml.trn1n.32xlarge", 16, 65),
            ("ml.trn2.48xlarge", 16, 65),
            ("ml.g6e.48xlarge", 4, 53),
            ("ml.g5.48xlarge", 1, 50),
            ("ml.g5.8xlarge", 1, 30),
            ("ml.m5.2xlarge", 1, 15),
        ],
    )
    def test_other_types_follow_the_rules(self, name: str, slurm: int, eks: int) -> None:
        on_slurm, on_eks = known(name).addresses_on_slurm, known(name).addresses_on_eks
        assert on_slurm is not None
        assert on_eks is not None
        assert (on_slurm.count, on_eks.count) == (slurm, eks)
        assert not on_slurm.documented
        assert not on_eks.documented

    @pytest.mark.parametrize(
        ("name", "pods"),
        [("ml.p5.48xlarge", 49), ("ml.g7e.48xlarge", 49), ("ml.g5.8xlarge", 29), ("ml.g5.xlarge", 14)],
    )
    def test_pods_come_from_one_interface_and_are_49_at_most(self, name: str, pods: int) -> None:
        assert known(name).max_pods == pods


class TestDeepHealthChecks:
    @pytest.mark.parametrize(
        ("name", "orchestrators"),
        [("ml.p5.48xlarge", ("slurm", "eks")), ("ml.trn2.48xlarge", ("eks",)), ("ml.m5.4xlarge", ())],
    )
    def test_gpus_on_both_and_trainium_on_eks_only(self, name: str, orchestrators: tuple[str, ...]) -> None:
        assert known(name).deep_health_checks == orchestrators

    def test_unknown_for_accelerators_of_unknown_kind(self) -> None:
        assert InstanceType("ml.p7.48xlarge", accelerators=8).deep_health_checks is None


class TestDescribedByHand:
    def test_a_new_type_needs_only_what_its_owner_knows(self) -> None:
        p7 = InstanceType("ml.p7.48xlarge", accelerators=8, efa=16, addresses=16)
        assert (p7.accelerators, p7.efa, p7.is_accelerated) == (8, 16, True)
        assert (p7.memory_gib, p7.network_cards, p7.max_pods, p7.ultraserver) == (None, None, None, None)
        assert p7.addresses_on_slurm is not None
        assert p7.addresses_on_slurm == p7.addresses_on_eks
        assert (p7.addresses_on_slurm.count, p7.addresses_on_slurm.documented) == (16, False)

    def test_nothing_is_assumed_of_a_bare_name(self) -> None:
        bare = InstanceType("ml.p7.48xlarge")
        assert (bare.accelerators, bare.is_accelerated, bare.addresses_on_slurm, bare.addresses_on_eks) == (None,) * 4

    def test_cards_and_interfaces_are_enough_for_the_rules(self) -> None:
        p7 = InstanceType("ml.p7.48xlarge", network_cards=16, ipv4_per_interface=50)
        assert p7.addresses_on_eks is not None
        assert p7.addresses_on_eks.count == 65

    def test_the_count_of_the_accelerator_is_the_number_of_accelerators(self) -> None:
        assert (
            InstanceType("ml.p7.48xlarge", accelerator=Accelerator(kind="gpu", name="R100", count=8)).accelerators == 8
        )

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"name": "p7.48xlarge"}, "use a name ml.FAMILY.SIZE"),
            ({"efa": -1}, "efa is -1; use 0 or more"),
            ({"addresses": 0}, "addresses is 0; use 1 or more"),
            ({"threads_per_core": (1, 4)}, "use 1 and 2"),
            ({"architecture": "riscv"}, "use x86_64 or arm64"),
            ({"accelerators": 4, "accelerator": Accelerator(kind="gpu", name="R100", count=8)}, "give one of them"),
        ],
    )
    def test_what_can_never_be_right_is_refused(self, fields: dict[str, object], message: str) -> None:
        with pytest.raises(InvalidValue, match=message):
            InstanceType(**{"name": "ml.p7.48xlarge", **fields})  # type: ignore[arg-type]  # wrong on purpose


class TestNear:
    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("p5.48xlarge", "ml.p5.48xlarge"),
            ("ML.P5.48xlarge", "ml.p5.48xlarge"),
            (" ml.m5.4XLarge ", "ml.m5.4xlarge"),
            ("ml.p5.48xl", "ml.p5.48xlarge"),
            ("ml.p5-48xlarge", "ml.p5.48xlarge"),
            ("ml_p5_48xlarge", "ml.p5.48xlarge"),
            ("ml p5 48xlarge", "ml.p5.48xlarge"),
            ("mlp5.48xlarge", "ml.p5.48xlarge"),
            ("lm.p5.48xlarge", "ml.p5.48xlarge"),
            ("ml.p6b200.48xlarge", "ml.p6-b200.48xlarge"),
            ("ml.p5.48xlarg", "ml.p5.48xlarge"),
            ("ml.p5.84xlarge", "ml.p5.4xlarge"),
            ("ml.p5.24xlarge", "ml.p5.4xlarge"),
            ("ml.trn1.2xlarge", "ml.trn1.32xlarge"),
            ("ml.p5ne.48xlarge", "ml.p5en.48xlarge"),
            ("ml.g4nd.xlarge", "ml.g4dn.xlarge"),
            ("ml.tnr2.48xlarge", "ml.trn2.48xlarge"),
            ("ml.trm2.48xlarge", "ml.trn2.48xlarge"),
            ("ml.p5", "ml.p5.4xlarge"),
        ],
    )
    def test_a_slip_names_what_was_meant_first(self, written: str, meant: str) -> None:
        assert instances.near(written)[0] == meant

    @pytest.mark.parametrize(
        "new",
        [
            "ml.p7.48xlarge",
            "p7.48xlarge",
            "ml.p9e.96xlarge",
            "ml.p6.48xlarge",
            "ml.p6-b400.48xlarge",
            "ml.p6e-gb300.36xlarge",
            "ml.g6f.xlarge",
            "ml.g54.xlarge",
            "ml.trn2u.48xlarge",
            "ml.trn3.48xlarge",
            "ml.inf2.48xlarge",
            "ml.m5d.xlarge",
            "ml.u-p6e-gb200x72",
            "",
        ],
    )
    def test_a_new_family_is_not_taken_for_a_slip(self, new: str) -> None:
        assert instances.near(new) == ()

    def test_known_names_are_near_nothing(self) -> None:
        assert [name for name in instances.names() if instances.near(name)] == []

    def test_every_known_name_is_found_without_its_prefix(self) -> None:
        assert [name for name in instances.names() if instances.near(name.removeprefix("ml.")) != (name,)] == []

    def test_what_is_near_exists(self) -> None:
        assert all(instances.find(name) for name in instances.near("ml.g5.49xlarge"))
        assert len(instances.near("ml.g5.49xlarge")) == 3

    def test_of_a_new_name_are_looked_up_without_going_over_the_whole_catalogue(self) -> None:
        instances.near("ml.zz9.xlarge")  # builds the tables
        assert calls(lambda: instances.near("ml.zz8.huge")) < len(instances.names())
        assert calls(lambda: instances.near("ml.zz8.huge")) == 1  # the lambda: known names are not looked up again
