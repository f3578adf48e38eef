"""The settings of SSSD."""

from __future__ import annotations

from configparser import RawConfigParser
from typing import Any

import pytest
from hyperpod_node import host, sssd

INPUTS: dict[str, Any] = {"domain": "corp", "uri": "ldaps://ad.corp", "base_dn": "dc=corp", "homes": "/fsx/home"}


def read(inputs: dict[str, Any], password: str = "") -> dict[str, str]:
    parser = RawConfigParser()
    parser.read_string(sssd.settings(inputs, password, "/etc/ca.pem"))
    return dict(parser["domain/corp"])


def test_certificates_are_demanded_and_homes_are_on_the_shared_file_system() -> None:
    found = read(INPUTS)
    assert (found["ldap_tls_reqcert"], found["ldap_tls_cacert"]) == ("demand", "/etc/ca.pem")
    assert found["override_homedir"] == "/fsx/home/%u"
    assert found["access_provider"] == "permit"
    assert not [key for key in found if "bind" in key or "authtok" in key]


def test_the_password_is_there_with_its_name() -> None:
    found = read({**INPUTS, "bind_dn": "cn=hp", "secret_arn": "arn:x"}, "s3cret # % ;")
    assert (found["ldap_default_bind_dn"], found["ldap_default_authtok"]) == ("cn=hp", "s3cret # % ;")


@pytest.mark.parametrize(("numbers", "mapped"), [("posix", "false"), ("sid", "true")])
def test_accounts_of_an_active_directory_have_its_numbers_or_those_of_their_sids(numbers: str, mapped: str) -> None:
    found = read({**INPUTS, "active_directory": numbers})
    assert (found["ldap_schema"], found["ldap_id_mapping"]) == ("ad", mapped)


def test_another_directory_keeps_the_schema_of_sssd() -> None:
    assert not {"ldap_schema", "ldap_id_mapping"} & read(INPUTS).keys()


def test_groups_that_may_log_in_are_named() -> None:
    found = read({**INPUTS, "allow_groups": ["ml", "ops"]})
    assert (found["access_provider"], found["simple_allow_groups"]) == ("simple", "ml, ops")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"uri": "ldap://ad.corp"}, "only ldaps://"),
        ({"uri": "ldaps://a,ldap://b"}, "only ldaps://"),
        ({"uri": ""}, "ldap_uri is missing or has several lines"),
        ({"base_dn": "dc=x\naccess_provider = permit"}, "ldap_search_base is missing or has several lines"),
        ({"domain": None}, "domain is missing"),
        ({"allow_groups": ["ml\nx = y"]}, "simple_allow_groups is missing or has several lines"),
    ],
)
def test_what_is_missing_or_would_smuggle_a_setting_in_is_a_mistake(change: dict[str, Any], message: str) -> None:
    with pytest.raises(host.Mistake, match=message):
        sssd.settings({**INPUTS, **change}, "", "/etc/ca.pem")


def test_a_password_of_several_lines_is_refused_and_not_shown() -> None:
    with pytest.raises(host.Mistake, match="ldap_default_authtok is missing or has several lines") as caught:
        sssd.settings({**INPUTS, "bind_dn": "cn=hp"}, "hunter2\nx", "/etc/ca.pem")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("given", [{"bind_dn": "cn=hp"}, {"secret_arn": "arn:x"}])
def test_a_name_without_a_password_or_the_reverse_is_a_mistake(given: dict[str, Any]) -> None:
    with pytest.raises(host.Mistake, match="go together"):
        sssd._password({**INPUTS, **given})
