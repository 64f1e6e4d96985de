from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.errors import InvalidError
from persona_mind.kernel import clock

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
moments = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - zone is given


@given(moments)
def test_a_time_that_is_written_is_read_again_to_the_millisecond(moment: datetime) -> None:
    assert abs(clock.parse(clock.format(moment)) - moment) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    "text",
    ["2026-03-02T09:30:00.000Z", "2026-03-02t11:30:00+02:00", "2026-03-02T09:30:00Z", "2026-03-02T09:30:00.000000000Z"],
)
def test_every_form_of_rfc_3339_names_the_same_moment(text: str) -> None:
    assert clock.parse(text) == NOW


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02",
        "2026-03-02T09:30:00",
        "2026-02-30T09:30:00Z",
        "2026-03-02 09:30:00Z",
        "٢٠٢٦-03-02T09:30:00Z",
        "2026-03-02T09:30:00Z\n",
        "0001-01-01T00:00:00+23:59",
        "soon",
        "",
    ],
)
def test_what_is_no_rfc_3339_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(InvalidError) as caught:
        clock.parse(text)
    assert len(text) < 5 or text not in str(caught.value)


def test_a_time_without_a_zone_is_not_written() -> None:
    with pytest.raises(InvalidError):
        clock.format(datetime(2026, 3, 2))  # noqa: DTZ001 - the mistake under test


@pytest.mark.parametrize(
    ("ago", "label"),
    [
        (timedelta(minutes=-5), "today"),
        (timedelta(minutes=29), "today"),
        (timedelta(hours=23), "today"),
        (timedelta(days=1), "1d"),
        (timedelta(days=13, hours=23), "13d"),
        (timedelta(days=14), "2w"),
        (timedelta(days=59), "8w"),
        (timedelta(days=60), "2mo"),
        (timedelta(days=364), "12mo"),
        (timedelta(days=365), "1y"),
    ],
)
def test_an_age_is_told_in_whole_days_weeks_months_or_years(ago: timedelta, label: str) -> None:
    assert clock.age(NOW - ago, NOW) == label


def test_an_age_is_the_same_all_day() -> None:
    then = NOW - timedelta(days=3)
    assert clock.age(then - timedelta(minutes=1), NOW) == clock.age(then - timedelta(minutes=40), NOW)
