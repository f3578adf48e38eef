"""What Enroot reads, and where Pyxis is looked for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hyperpod_node import containers, host


def expand(settings: str, home: Path) -> dict[str, str]:
    """The settings as Enroot's shell makes them."""
    script = 'while IFS=$\' \\t=\' read -r key value; do echo "$key $(eval echo "$value")"; done'
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], input=settings, capture_output=True, text=True, check=True,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    return dict(line.split() for line in ran.stdout.splitlines())


def test_every_user_gets_a_folder_of_their_own(tmp_path: Path) -> None:
    found = expand(containers.settings(tmp_path), tmp_path / "home")
    mine = f"{tmp_path}/user-{os.getuid()}"
    assert found == {
        "ENROOT_CACHE_PATH": f"{mine}/cache",
        "ENROOT_DATA_PATH": f"{mine}/data",
        "ENROOT_RUNTIME_PATH": f"{mine}/run",
        "ENROOT_TEMP_PATH": mine,
    }
    assert Path(mine).stat().st_mode & 0o777 == 0o700


def test_a_folder_that_somebody_else_has_taken_is_not_used(tmp_path: Path) -> None:
    (tmp_path / f"user-{os.getuid()}").symlink_to("/proc/1/nothing")
    home = tmp_path / "home"
    home.mkdir()
    assert expand(containers.settings(tmp_path), home)["ENROOT_DATA_PATH"] == f"{home}/.enroot/data"


def test_the_settings_are_a_script_that_bash_takes(tmp_path: Path) -> None:
    """Enroot refuses a file that `bash -n` refuses."""
    subprocess.run(["bash", "-n"], input=containers.settings(tmp_path), text=True, check=True)


@pytest.mark.parametrize(
    ("file", "line", "found"),
    [
        ("plugstack.conf", "required /usr/local/lib/slurm/spank_pyxis.so", "/usr/local/lib/slurm/spank_pyxis.so"),
        ("plugstack.conf.d/pyxis.conf", "optional  /opt/x/spank_pyxis.so runtime_path=/run", "/opt/x/spank_pyxis.so"),
        ("plugstack.conf", "required spank_pyxis.so", "/usr/local/lib/slurm/spank_pyxis.so"),
        ("plugstack.conf", "# required /x/spank_pyxis.so", None),
        ("plugstack.conf", "include /opt/slurm/etc/plugstack.conf.d/*", None),
        ("other.conf", "required /x/spank_pyxis.so", None),
    ],
)
def test_pyxis_is_found_where_slurm_loads_it(tmp_path: Path, file: str, line: str, found: str | None) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(f"{line}\n")
    assert containers.plugin([tmp_path / "none", tmp_path]) == found


def test_a_base_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir(mode=0o700)
    (tmp_path / "enroot").symlink_to(tmp_path / "target")
    with pytest.raises(host.Failure, match="is no folder"):
        containers._base(tmp_path / "enroot")
    assert (tmp_path / "target").stat().st_mode & 0o7777 == 0o700
