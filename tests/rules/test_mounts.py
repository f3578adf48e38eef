"""What is said of the file systems that nodes mount."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment, Location
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.orchestration import Eks, Slurm
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.model.storage import Association, DataRepository, Mount, NodeVolume, OtherFileSystem
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    cluster,
    compute,
    controller,
    deployment,
    eks_cluster,
    kubernetes,
    login,
    of_slurm,
    slurm_cluster,
    told,
)
from tests.rules.file_systems import file_system, lustre

OTHER_DNS_NAME = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
HOME = OtherFileSystem(path="Home", kind="OPENZFS")


def of(rule: str, mount: Mount, *, deployment_type: Any = "PERSISTENT_2", **fields: Any) -> list[str]:
    """What a rule says of `p5` with this mount beside the Lustre file system `Scratch` and the OpenZFS one `Home`."""
    judged = slurm_cluster(compute(mounts=(mount,)), **fields)
    scratch = file_system(lustre(deployment_type=deployment_type))
    both = (scratch, replace(file_system(), path="Second"))
    return told(rule, deployment(judged, file_systems=both, other_file_systems=(HOME,)))


def mount(file_system: Any = "Scratch", mount_name: Any = "Scratch") -> Mount:
    return Mount(kind="lustre", file_system=file_system, mount_name=mount_name)


class TestMountPathsAreLegal:
    def mounting(self, path: Any) -> tuple[Mount, ...]:
        return (Mount(kind="lustre", path=path, file_system="fs-0123.fsx"),)

    def of(self, path: Any) -> list[str]:
        return of_slurm("HP3016", compute(mounts=self.mounting(path)))

    @pytest.mark.parametrize("path", ["/", "/my data", ""])
    def test_names_the_path(self, path: str) -> None:
        assert self.of(path) == [
            (
                f"HP3016 group 'p5' mounts Lustre at {path!r} | use MountPath (path) of letters, digits, dots, "
                "underscores and hyphens, each name after one slash: /fsx"
            )
        ]

    @pytest.mark.parametrize(
        ("path", "fault", "meant"),
        [
            ("fsx", "no slash at its beginning", "/fsx"),
            ("/fsx/", "a slash at its end", "/fsx"),
            ("//fsx", "two slashes in a row", "/fsx"),
            ("mnt//fsx/", "no slash at its beginning, two slashes in a row and a slash at its end", "/mnt/fsx"),
        ],
    )
    def test_names_the_slash_that_is_too_much_or_missing(self, path: str, fault: str, meant: str) -> None:
        assert self.of(path) == [
            f"HP3016 group 'p5' mounts Lustre at {path!r}, which has {fault} | use MountPath (path) {meant}"
        ]

    def test_restricted_groups_mount_too(self) -> None:
        nova = compute(name="nova", node_type=None, partitions=(), mounts=self.mounting("/fsx/"))
        judged = slurm_cluster(restricted_groups=(RestrictedGroup(group=nova),))
        (found,) = told("HP3016", deployment(judged))
        assert found.startswith("HP3016 group 'nova' mounts Lustre at '/fsx/', which")

    @pytest.mark.parametrize(("path", "findings"), [("/fsx/", 0), ("//fsx", 0), ("fsx", 1), ("/", 1)])
    def test_a_request_may_have_further_slashes(self, path: str, findings: int) -> None:
        assert len(of_slurm("HP3016", compute(mounts=self.mounting(path)), requested=True)) == findings

    @pytest.mark.parametrize("path", ["/fsx", "/mnt/fsx-1.a_b", None, UNKNOWN])
    def test_is_silent_on_legal_and_unknown_paths(self, path: Any) -> None:
        assert self.of(path) == []

    def test_one_mistake_of_several_groups_is_told_once(self) -> None:
        mounts = self.mounting("/fsx/")
        (found,) = of_slurm("HP3016", compute(mounts=mounts), login(mounts=mounts))
        assert found.startswith("HP3016 groups 'p5' and 'login' mount Lustre at '/fsx/', which")


class TestMountsHaveAPlaceOfTheirOwn:
    def of(self, path: Any, **fields: Any) -> list[str]:
        mounts = (Mount(kind="openzfs", path=path, file_system="Home"),)
        return of_slurm("HP3055", compute(mounts=mounts), login(mounts=mounts), **fields)

    @pytest.mark.parametrize("path", ["/usr", "/opt", "/opt/ml", "/fsx/../etc", "/.."])
    def test_names_what_would_be_hidden_once(self, path: str) -> None:
        assert self.of(path) == [
            (
                f"HP3055 groups 'p5' and 'login': OpenZFS at {path} hides what the node runs from | "
                "use MountPath (path) of a folder of its own, such as /fsx"
            )
        ]

    @pytest.mark.parametrize(("path", "real"), [("/fsx/../data", "/data"), ("/./data", "/data")])
    def test_says_where_a_path_with_dots_leads(self, path: str, real: str) -> None:
        assert self.of(path) == [
            f"HP3055 groups 'p5' and 'login': OpenZFS at {path}, which means {real} | use MountPath (path) {real}"
        ]

    def test_is_a_warning_because_the_service_takes_any_folder(self) -> None:
        assert RULES["HP3055"].severity is Severity.WARNING

    @pytest.mark.parametrize("path", ["/home", "/opt/sagemaker", "/usr/share/data", "/mnt/..data", None, UNKNOWN])
    def test_is_silent_on_other_folders_and_unknown_ones(self, path: Any) -> None:
        assert self.of(path) == of_slurm("HP3055", compute(mounts=UNKNOWN)) == []

    @pytest.mark.parametrize(("requested", "findings"), [(True, 1), (False, 0)])
    def test_leaves_a_path_that_is_refused_to_its_own_rule(self, *, requested: bool, findings: int) -> None:
        assert len(self.of("/usr/", requested=requested)) == findings

    def test_a_request_may_have_further_slashes(self) -> None:
        assert self.of("/fsx/", requested=True) == []


class TestMountsNameOneFileSystem:
    @pytest.mark.parametrize(
        ("mounted", "said"),
        [
            (
                mount("Scratch.Ref"),
                "with DnsName from the id (Ref) of Scratch | use its attribute DNSName (!GetAtt; CDK: attr_dns_name)",
            ),
            (
                mount("Scratch.ResourceARN"),
                (
                    "with DnsName from the ResourceARN of Scratch | "
                    "use its attribute DNSName (!GetAtt; CDK: attr_dns_name)"
                ),
            ),
            (
                mount(mount_name="Scratch.DNSName"),
                (
                    "with MountName from the DNSName of Scratch | "
                    "use its attribute LustreMountName (!GetAtt; CDK: attr_lustre_mount_name)"
                ),
            ),
            (
                mount("Second"),
                "with the DNS name of Second and the mount name of Scratch | take both from one file system",
            ),
        ],
    )
    def test_names_what_is_given_instead(self, mounted: Mount, said: str) -> None:
        assert of("HP3040", mounted) == [f"HP3040 group 'p5' mounts Lustre {said}"]

    def test_holds_for_openzfs_too(self) -> None:
        assert of("HP3040", Mount(kind="openzfs", file_system="Home.Ref")) == [
            (
                "HP3040 group 'p5' mounts OpenZFS with DnsName from the id (Ref) of Home | "
                "use its attribute DNSName (!GetAtt; CDK: attr_dns_name)"
            )
        ]

    @pytest.mark.parametrize(
        "mounted",
        [
            mount(),
            mount(UNKNOWN),
            mount(mount_name=UNKNOWN),
            mount(mount_name=None),
            mount(mount_name="abcdefgh"),
            mount(OTHER_DNS_NAME),
            mount(OTHER_DNS_NAME, "abcdefgh"),
            mount("Lookup.Dns", "Lookup.Name"),
            Mount(kind="openzfs", file_system="Home"),
        ],
    )
    def test_is_silent_on_names_of_one_and_on_what_is_not_known(self, mounted: Mount) -> None:
        assert of("HP3040", mounted) == []


class TestNamesThatAreWrittenDown:
    def test_a_dns_name_beside_a_mount_name_that_is_read_is_a_guess(self) -> None:
        assert of("HP3042", mount(OTHER_DNS_NAME)) == [
            (
                f"HP3042 group 'p5' mounts Scratch by the DNS name {OTHER_DNS_NAME}, which is a guess | "
                "use its attribute DNSName (!GetAtt; CDK: attr_dns_name)"
            )
        ]

    def test_must_be_as_long_as_fsx_makes_them(self) -> None:
        assert of("HP3041", mount(mount_name="fsx")) == [
            (
                "HP3041 group 'p5' mounts Scratch by the mount name 'fsx', which it cannot have | "
                "use its attribute LustreMountName (!GetAtt; CDK: attr_lustre_mount_name)"
            )
        ]
        assert of("HP3042", mount(mount_name="fsx")) == []

    @pytest.mark.parametrize("deployment_type", ["PERSISTENT_2", "SCRATCH_1", UNKNOWN])
    def test_are_a_guess(self, deployment_type: Any) -> None:
        guess = mount(mount_name="abcdefgh")
        assert of("HP3042", guess, deployment_type=deployment_type) == [
            (
                "HP3042 group 'p5' mounts Scratch by the mount name 'abcdefgh', which is a guess | "
                "use its attribute LustreMountName (!GetAtt; CDK: attr_lustre_mount_name)"
            )
        ]
        assert of("HP3041", guess, deployment_type=deployment_type) == []

    @pytest.mark.parametrize("deployment_type", ["SCRATCH_1", UNKNOWN])
    def test_may_be_that_of_scratch_1(self, deployment_type: Any) -> None:
        old = mount(mount_name="fsx")
        assert of("HP3041", old, deployment_type=deployment_type) == []
        assert of("HP3042", old, deployment_type=deployment_type) == []

    @pytest.mark.parametrize(
        "mounted", [mount(), mount(mount_name=None), mount(mount_name=UNKNOWN), mount(OTHER_DNS_NAME, "fsx")]
    )
    @pytest.mark.parametrize("rule", ["HP3041", "HP3042"])
    def test_are_not_those_that_are_read_nor_those_of_others(self, rule: str, mounted: Mount) -> None:
        assert of(rule, mounted) == []


class TestMountsFitTheirFileSystem:
    def test_lustre_is_not_openzfs(self) -> None:
        assert of("HP3043", Mount(kind="openzfs", file_system="Scratch")) == [
            (
                "HP3043 group 'p5' mounts Scratch as OpenZFS, but its FileSystemType is LUSTRE | "
                "use FsxLustreConfig (hp.Mount kind='lustre')"
            )
        ]

    def test_openzfs_is_not_lustre(self) -> None:
        assert of("HP3043", mount("Home")) == [
            (
                "HP3043 group 'p5' mounts Home as Lustre, but its FileSystemType is OPENZFS | "
                "use FsxOpenZfsConfig (hp.Mount kind='openzfs')"
            )
        ]

    def test_other_kinds_cannot_be_mounted_here(self) -> None:
        judged = slurm_cluster(compute(mounts=(mount("Share"),)))
        share = OtherFileSystem(path="Share", kind="ONTAP")
        (found,) = told("HP3043", deployment(judged, other_file_systems=(share,)))
        assert found.endswith("| mount it in a lifecycle script: InstanceStorageConfigs has no such kind")

    @pytest.mark.parametrize("mounted", [mount(), mount(UNKNOWN), mount(OTHER_DNS_NAME)])
    def test_is_silent_on_the_right_kind_and_on_what_is_not_known(self, mounted: Mount) -> None:
        assert of("HP3043", mounted) == of("HP3043", Mount(kind="openzfs", file_system="Home")) == []


class TestMountsStayInTheRegion:
    def test_names_both(self) -> None:
        elsewhere = OTHER_DNS_NAME.replace("us-west-2", "us-east-1")
        assert of("HP3046", mount(elsewhere, "abcdefgh")) == [
            (f"HP3046 group 'p5' mounts {elsewhere}, and the cluster is in us-west-2 | use a file system in us-west-2")
        ]

    @pytest.mark.parametrize("mounted", [mount(OTHER_DNS_NAME), mount(), mount(UNKNOWN)])
    def test_is_silent_on_one_region(self, mounted: Mount) -> None:
        assert of("HP3046", mounted) == []

    def test_is_silent_where_the_region_is_not_known(self) -> None:
        assert of("HP3046", mount(OTHER_DNS_NAME), region=None) == []


class TestFoldersHoldOneMount:
    APART = "give each a MountPath (path) of its own, none inside another"

    def of(self, *mounts: Mount, volumes: Any = ()) -> list[str]:
        return of_slurm("HP3044", compute(mounts=mounts, volumes=volumes))

    def test_folders_that_are_left_out_count(self) -> None:
        assert self.of(mount(), Mount(kind="openzfs", path="/fsx", file_system="Home")) == [
            f"HP3044 group 'p5': Lustre and OpenZFS at /fsx | {self.APART}"
        ]

    def test_a_volume_has_a_folder_too(self) -> None:
        hidden = Mount(kind="openzfs", path="/opt/sagemaker", file_system="Home")
        assert self.of(hidden, volumes=(NodeVolume(size_gib=500),)) == [
            f"HP3044 group 'p5': the volume and OpenZFS at /opt/sagemaker | {self.APART}"
        ]
        assert self.of(hidden, volumes=(NodeVolume(root=True, kms_key="k"), NodeVolume(root=UNKNOWN))) == []

    @pytest.mark.parametrize("inner", ["/fsx/home", "/fsx/a/b", "/fsx/../fsx/home"])
    def test_one_inside_the_other_is_hidden_too(self, inner: str) -> None:
        (found,) = self.of(mount(), Mount(kind="openzfs", path=inner, file_system="Home"))
        assert found.startswith("HP3044 group 'p5': OpenZFS at /fsx/")
        assert found.endswith(f", inside Lustre at /fsx | {self.APART}")
        inside_home = Mount(kind="lustre", path="/home/fsx", file_system="Scratch")
        (found,) = self.of(inside_home, Mount(kind="openzfs", file_system="Home"))
        assert found == f"HP3044 group 'p5': Lustre at /home/fsx, inside OpenZFS at /home | {self.APART}"

    def test_one_mistake_of_several_groups_is_told_once(self) -> None:
        mounts = (mount(), Mount(kind="openzfs", path="/fsx", file_system="Home"))
        (found,) = of_slurm("HP3044", compute(mounts=mounts), login(mounts=mounts))
        assert found.startswith("HP3044 groups 'p5' and 'login': Lustre and OpenZFS at /fsx |")

    def test_folders_that_begin_alike_are_apart(self) -> None:
        assert self.of(mount(), Mount(kind="openzfs", path="/fsx2", file_system="Home")) == []

    def test_leaves_two_of_a_kind_to_the_rule_on_their_number(self) -> None:
        assert self.of(mount(), mount("Second")) == []

    def test_is_silent_on_folders_of_their_own_and_unknown_ones(self) -> None:
        unknown = Mount(kind="lustre", path=UNKNOWN, file_system="Scratch")
        assert self.of(mount(), Mount(kind="openzfs", file_system="Home")) == []
        assert self.of(unknown, Mount(kind="openzfs", path="/fsx", file_system="Home"), volumes=UNKNOWN) == []
        assert of_slurm("HP3044", compute(mounts=UNKNOWN)) == []


class TestMountsAreForSlurmByApi:
    def test_pods_mount_otherwise(self) -> None:
        judged = eks_cluster(kubernetes(mounts=(mount(),)))
        assert told("HP3045", deployment(judged)) == [
            (
                "HP3045 group 'p5' mounts Lustre in an EKS cluster | "
                "leave the mount out, and give pods a volume of the FSx CSI driver"
            )
        ]

    def test_so_do_scripts_of_the_old_form(self) -> None:
        judged = cluster(groups=(kubernetes(mounts=(mount(),)),), orchestrator=None)
        (found,) = told("HP3045", deployment(judged))
        assert found.startswith("HP3045 group 'p5' mounts Lustre in a Slurm cluster without SlurmConfig |")

    def test_is_silent_on_slurm_by_api_and_on_what_is_not_known(self) -> None:
        assert of("HP3045", mount()) == of("HP3045", mount(), orchestrator=UNKNOWN) == []
        assert told("HP3045", deployment(eks_cluster(kubernetes(mounts=UNKNOWN)))) == []


class TestClustersWaitForTheirStorage:
    SLURM = Slurm()
    LINK = Association(
        path="Link", file_system="Scratch", repository=DataRepository(folder="/data", s3_uri="s3://b/data/")
    )

    def of(
        self,
        before: Any,
        *,
        associations: tuple[Association, ...] = (LINK,),
        orchestrator: Slurm | Eks = SLURM,
        **group: Any,
    ) -> list[str]:
        groups = (controller(), compute(**{"mounts": (mount(),), **group}))
        judged = cluster(groups=groups, depends_on=before, orchestrator=orchestrator)
        here = Location("t.yaml", 1)
        return told(
            "HP3047",
            Deployment(
                clusters=(judged,),
                file_systems=(file_system(),),
                associations=associations,
                locations=dict.fromkeys(("Train", "Scratch", "Link"), here),
            ),
        )

    def test_links_to_s3_come_first(self) -> None:
        assert self.of(frozenset({"Scratch"})) == [
            (
                "HP3047 the cluster does not wait for Link | "
                "let the cluster depend on it (DependsOn; CDK: node.add_dependency)"
            )
        ]

    def test_so_does_what_only_scripts_mount(self) -> None:
        scripts = Lifecycle(source_uri="s3://sagemaker-x/", on_create="on_create.sh")
        assert self.of(frozenset(), mounts=(), lifecycle=scripts) == [
            (
                "HP3047 the cluster does not wait for Scratch | "
                "let the cluster depend on it (DependsOn; CDK: node.add_dependency)"
            )
        ]

    def test_on_eks_pods_mount_them_later(self) -> None:
        scripts = Lifecycle(source_uri="s3://sagemaker-x/", on_create="on_create.sh")
        assert self.of(frozenset(), mounts=(), lifecycle=scripts, orchestrator=Eks(cluster="Kubernetes")) == []

    def test_is_silent_where_it_waits(self) -> None:
        assert self.of(frozenset({"Scratch", "Link"})) == []

    def test_is_silent_where_the_order_is_not_known(self) -> None:
        assert self.of(None) == []

    def test_is_silent_on_links_of_file_systems_that_are_not_mounted(self) -> None:
        elsewhere = Association(path="Link", file_system="fs-01234567", repository=self.LINK.repository)
        assert self.of(frozenset({"Scratch"}), associations=(elsewhere,)) == []

    def test_is_silent_on_scripts_that_are_not_known(self) -> None:
        unknown = Lifecycle(source_uri=UNKNOWN, on_create=UNKNOWN, on_init_complete=UNKNOWN)
        assert self.of(frozenset(), associations=(), mounts=UNKNOWN, lifecycle=unknown) == []

    def test_is_silent_where_nothing_mounts(self) -> None:
        assert self.of(frozenset(), mounts=()) == []
        scripts = Lifecycle(source_uri="s3://sagemaker-x/", on_create="on_create.sh")
        assert self.of(frozenset(), associations=(), mounts=UNKNOWN, lifecycle=scripts) == []

    def test_is_a_warning_because_nodes_may_be_late_enough(self) -> None:
        assert RULES["HP3047"].severity is Severity.WARNING
