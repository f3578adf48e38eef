"""Managed policies of AWS by name."""

from __future__ import annotations

import pytest

from hyperpod_constructs.catalog import policies


@pytest.mark.parametrize("name", ["AmazonSageMakerClusterInstanceRolePolicy", "service-role/AWSLambdaRole"])
def test_a_policy_exists_under_its_own_path_only(name: str) -> None:
    assert policies.exists(name)
    assert not policies.exists(f"elsewhere/{name}")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("AmazonSageMakerClusterInstanceRolPolicy", "AmazonSageMakerClusterInstanceRolePolicy"),
        ("service-role/AmazonSageMakerClusterInstanceRolePolicy", "AmazonSageMakerClusterInstanceRolePolicy"),
        ("AWSLambdaRole", "service-role/AWSLambdaRole"),
        ("NothingLikeIt", None),
    ],
)
def test_guesses_what_was_meant(written: str, meant: str | None) -> None:
    assert policies.meant(written) == meant


def test_policies_of_service_linked_roles_cannot_be_attached() -> None:
    assert not policies.exists("aws-service-role/AmazonSageMakerHyperPodServiceRolePolicy")
