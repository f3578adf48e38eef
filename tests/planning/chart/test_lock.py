from __future__ import annotations

from dataclasses import replace

import pytest

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import lock
from hyperpod_constructs.planning.chart.lock import Lock, Pin

KEDA = Pin(chart=".", name="keda", version="2.17.1", repository="https://kedacore.github.io/charts", sha256="b" * 64)
LOCK = Lock(
    repository="https://github.com/aws/sagemaker-hyperpod-cli",
    commit="0" * 40,
    folder="helm_chart/HyperPodHelmChart",
    archive_sha256="a" * 64,
    contents_sha256="c" * 64,
    dependencies=(KEDA,),
)


def test_what_is_written_is_read_back_and_written_the_same() -> None:
    assert lock.decode(lock.encode(LOCK)) == LOCK
    assert lock.encode(lock.decode(lock.encode(LOCK))) == lock.encode(LOCK)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        lock.encode(LOCK).replace('"version": 1', '"version": 2', 1),
        lock.encode(LOCK).replace("a" * 64, "a"),
    ],
)
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"hyperpod-chart\.lock\.json"):
        lock.decode(text)


class TestCheckSame:
    def test_says_nothing_of_the_same(self) -> None:
        lock.check_same(LOCK, replace(LOCK))

    @pytest.mark.parametrize(
        ("new", "said"),
        [
            (replace(LOCK, contents_sha256="d" * 64), f"contents_sha256 was {'c' * 64}, is {'d' * 64}"),
            (
                replace(LOCK, dependencies=()),
                f"keda of . was 2.17.1 ({'b' * 64}) of https://kedacore.github.io/charts, is",
            ),
            (replace(LOCK, dependencies=(replace(KEDA, version="2.18.0"),)), "is 2.18.0 ("),
            (replace(LOCK, dependencies=(KEDA, replace(KEDA, name="x"))), "x of . was not there, is 2.17.1"),
        ],
    )
    def test_names_what_differs(self, new: Lock, said: str) -> None:
        with pytest.raises(InvalidValue) as error:
            lock.check_same(LOCK, new)
        assert said in str(error.value)
