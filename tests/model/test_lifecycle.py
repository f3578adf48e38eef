"""Scripts as files, and what stands for the names of their buckets."""

from __future__ import annotations

import pytest

from hyperpod_constructs.model.lifecycle import (
    ScriptFile,
    SlurmParameters,
    generated_name,
    is_generated,
    script_file,
    slurm_parameters,
)


class TestScriptFile:
    @pytest.mark.parametrize(
        ("line", "fetch"),
        [
            ("curl -fsSL https://example.com/x.sh | bash", "1: curl -fsSL https://example.com/x.sh"),
            ("wget -q 'http://example.com/a'", "1: wget -q 'http://example.com/a"),
            ("git clone --depth 1 https://github.com/a/b", "1: git clone --depth 1 https://github.com/a/b"),
            ("sudo pip3 install torch", "1: pip3 install"),
            ("python3 -m pip install -r requirements.txt", "1: python3 -m pip install"),
            ("apt-get -y install jq", "1: apt-get -y install"),
            ("dnf update", "1: dnf update"),
            ("docker pull nvcr.io/nvidia/pytorch", "1: docker pull"),
        ],
    )
    def test_names_what_it_loads_from_the_internet(self, line: str, fetch: str) -> None:
        assert script_file("a.sh", line.encode()).fetches == (fetch,)

    @pytest.mark.parametrize(
        "line",
        [
            "# curl https://example.com",
            "curl -s http://169.254.169.254/latest/api/token",
            "curl https://sts.us-west-2.amazonaws.com",
            "curl $URL",
            "curl https://${HOST}/x",
            "aws s3 cp s3://bucket/x .",
            "pip install --no-index --find-links wheels torch",
            "docker pull 111122223333.dkr.ecr.us-west-2.amazonaws.com/x",
            "echo https://example.com",
        ],
    )
    def test_does_not_name_what_needs_no_way_out(self, line: str) -> None:
        assert script_file("a.sh", line.encode()).fetches == ()

    def test_reads_scripts_only_and_stops_after_three(self) -> None:
        assert script_file("README.md", b"pip install x").fetches == ()
        assert len(script_file("a.sh", b"pip install x\n" * 9).fetches) == 3

    def test_sees_line_ends_of_windows_and_bytes_that_are_no_text(self) -> None:
        assert script_file("a.sh", b"\xff\r\n") == ScriptFile(name="a.sh", carriage_returns=True)
        assert script_file("run", b"\xff pip install x\n").fetches == ("1: pip install",)

    @pytest.mark.parametrize("name", ["LICENSE", "Dockerfile", "conf/slurm", "a.bin"])
    def test_line_ends_count_in_scripts_only(self, name: str) -> None:
        assert not script_file(name, b"FROM scratch\r\n").carriage_returns
        assert script_file(name, b"#!/bin/bash\r\n").carriage_returns

    @pytest.mark.parametrize(
        ("content", "mark"),
        [
            (b"\xef\xbb\xbf#!/bin/bash\n", "UTF-8"),
            ("#!/bin/bash\n".encode("utf-16-le").join([b"\xff\xfe", b""]), "UTF-16"),
            (b"\xfe\xff\x00#", "UTF-16 (big endian)"),
            (b"#!/bin/bash\n", None),
        ],
    )
    def test_sees_what_windows_puts_before_text(self, content: bytes, mark: str | None) -> None:
        assert script_file("a.sh", content).byte_order_mark == mark

    def test_marks_count_in_scripts_only(self) -> None:
        assert script_file("run", b"\xef\xbb\xbf#!/bin/bash\n").byte_order_mark == "UTF-8"
        assert script_file("table.csv", b"\xef\xbb\xbfa,b\n").byte_order_mark is None


class TestSlurmParameters:
    def test_has_the_names_of_groups(self) -> None:
        text = b"""{"controller_group": "head", "login_group": "login", "worker_groups":
            [{"instance_group_name": "p5", "partition_name": "dev"}, {"instance_group_name": 1}, "x"]}"""
        assert slurm_parameters(text) == SlurmParameters(controller="head", login="login", workers=("p5",))

    @pytest.mark.parametrize("text", [b"{}", b'{"controller_group": 1, "worker_groups": {}}'])
    def test_may_say_nothing(self, text: bytes) -> None:
        assert slurm_parameters(text) == SlurmParameters()

    @pytest.mark.parametrize(
        ("text", "says"), [(b"{", "it is no JSON"), (b"[]", "it holds no map"), (b"\xff", "no JSON")]
    )
    def test_says_why_it_cannot_be_used(self, text: bytes, says: str) -> None:
        problem = slurm_parameters(text).problem
        assert problem is not None
        assert says in problem


def test_a_name_that_cloudformation_makes_begins_with_that_of_the_stack() -> None:
    assert generated_name("Train", "App/Train/Scripts Bucket") == "train-<name of App.Train.Scripts.Bucket>"
    assert generated_name(None, "t.yaml/B") == "<name of t.yaml.B>"
    assert is_generated(generated_name(None, "B"))
    assert not is_generated("acme-scripts")
