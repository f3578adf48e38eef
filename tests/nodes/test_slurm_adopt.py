"""Where pam_slurm_adopt goes in a PAM file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperpod_node import host, slurm_adopt

MODULE = Path("/lib/x86_64-linux-gnu/security/pam_slurm_adopt.so")
DEBIAN = """@include common-auth
account    required     pam_nologin.so
@include common-account
session    required     pam_loginuid.so
@include common-session
@include common-password
"""
RED_HAT = """auth       substack     password-auth
-account   required     pam_sepermit.so
account    include      password-auth
session    include      password-auth
"""


@pytest.mark.parametrize("pam", [DEBIAN, RED_HAT])
def test_the_module_comes_before_what_may_end_the_account_stack(pam: str) -> None:
    lines = slurm_adopt.with_module(pam, MODULE, own_session=False).splitlines()
    at = lines.index(f"account required {MODULE}")
    assert lines[at - 1].startswith(
        "account [success=1 default=ignore] pam_listfile.so item=group sense=allow onerr=fail"
    )
    assert not [line for line in lines[: at - 1] if "account" in line and not line.startswith("#")]


@pytest.mark.parametrize("own_session", [True, False])
@pytest.mark.parametrize("pam", [DEBIAN, RED_HAT])
def test_putting_it_in_twice_or_taking_it_out_leaves_one_or_none(pam: str, own_session: bool) -> None:
    once = slurm_adopt.with_module(pam, MODULE, own_session=own_session)
    assert slurm_adopt.with_module(once, MODULE, own_session=own_session) == once
    assert slurm_adopt.without_module(once) == pam


def test_the_session_stack_of_sshd_is_its_own_where_systemd_would_move_logins() -> None:
    assert "@include hyperpod-session\n" in slurm_adopt.with_module(DEBIAN, MODULE, own_session=True)
    assert "@include common-session\n" in slurm_adopt.with_module(DEBIAN, MODULE, own_session=False)


def test_a_file_without_an_account_stack_is_a_mistake() -> None:
    with pytest.raises(host.Mistake, match="has no account stack"):
        slurm_adopt.with_module("auth required pam_deny.so\n", MODULE, own_session=False)
