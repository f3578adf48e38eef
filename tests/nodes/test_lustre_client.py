"""Which packages are held, by what is installed."""

from __future__ import annotations

from hyperpod_node import lustre_client

KERNEL = "6.8.0-1021-aws"


def test_the_client_the_running_kernel_and_what_pulls_in_newer_ones_are_held() -> None:
    installed = [
        "lustre-client-modules-aws",
        f"lustre-client-modules-{KERNEL}",
        "lustre-client-utils",
        "linux-aws",
        "linux-image-aws",
        "linux-headers-aws-lts-22.04",
        f"linux-image-{KERNEL}",
        f"linux-modules-{KERNEL}",
        "linux-image-6.8.0-1009-aws",
        "linux-firmware",
        "linux-libc-dev",
        "linux-aws-6.8-headers-6.8.0-1021",
        "openssh-server",
    ]
    assert lustre_client.of_debian(installed, KERNEL) == sorted([*installed[:8]])


def test_what_is_not_installed_is_not_held() -> None:
    assert lustre_client.of_debian(["bash"], KERNEL) == []
    assert lustre_client.of_rpm(["bash"]) == []


def test_kernels_and_client_of_rpm_systems_are_held() -> None:
    installed = ["kernel", "kernel6.12", "kernel-headers", "kmod-lustre-client", "lustre-client", "bash"]
    assert lustre_client.of_rpm(installed) == ["kernel", "kernel6.12", "kmod-lustre-client", "lustre-client"]


def test_excluded_packages_are_added_to_the_configuration_once() -> None:
    text = "[main]\ngpgcheck=1\n"
    once = lustre_client.excluding(text, ["kernel", "lustre-client"])
    assert once == "[main]\nexclude=kernel lustre-client\ngpgcheck=1\n"
    assert lustre_client.excluding(once, ["kernel", "lustre-client"]) == once
    assert lustre_client.excluding(text, []) == text


def test_packages_that_were_excluded_before_stay_excluded() -> None:
    found = lustre_client.excluding("[main]\nexcludepkgs = a, b\n", ["b", "kernel"])
    assert found == "[main]\nexclude=a b kernel\n"
