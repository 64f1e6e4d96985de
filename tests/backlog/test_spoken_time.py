from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_hooks.errors import InvalidError
from persona_mind.kernel.spoken_time import MAX_SECONDS, canonical, moment
from persona_mind.kernel.time_words import PHRASES

ROME = ZoneInfo("Europe/Rome")
NOW = datetime(2026, 3, 2, 16, 45, tzinfo=UTC)  # a Monday, 17:45 in Rome


def told(words: float | str, now: datetime = NOW) -> str:
    return moment(words, now, zone=ROME).astimezone(ROME).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (600, "2026-03-02 17:55:00"),
        ("600", "2026-03-02 17:55:00"),
        ("2026-03-05T14:00:00Z", "2026-03-05 15:00:00"),
        ("2026-03-05t14:00:00.250+02:00", "2026-03-05 13:00:00"),
        ("in 2 days", "2026-03-04 17:45:00"),
        ("2d", "2026-03-04 17:45:00"),
        ("1h30m", "2026-03-02 19:15:00"),
        ("in 1 hour and 30 minutes", "2026-03-02 19:15:00"),
        ("in half an hour", "2026-03-02 18:15:00"),
        ("in 1.5 hours", "2026-03-02 19:15:00"),
        ("in three weeks' time", "2026-03-23 17:45:00"),
        ("in a week", "2026-03-09 17:45:00"),
        ("in 1 month", "2026-04-02 17:45:00"),
        ("in 2 days at 9", "2026-03-04 09:00:00"),
        ("tomorrow", "2026-03-03 09:00:00"),
        ("tomorrow at 9", "2026-03-03 09:00:00"),
        ("9am tomorrow", "2026-03-03 09:00:00"),
        ("tomorrow evening at 8", "2026-03-03 20:00:00"),
        ("tomorrow at 9 o'clock", "2026-03-03 09:00:00"),
        ("the day after tomorrow", "2026-03-04 09:00:00"),
        ("tonight", "2026-03-02 20:00:00"),
        ("monday at 10", "2026-03-09 10:00:00"),
        ("at 5 p.m. on Friday", "2026-03-06 17:00:00"),
        ("by friday", "2026-03-06 09:00:00"),
        ("at 18:30", "2026-03-02 18:30:00"),
        ("at 9", "2026-03-03 09:00:00"),
        ("noon", "2026-03-03 12:00:00"),
        ("March 5", "2026-03-05 09:00:00"),
        ("March 1", "2027-03-01 09:00:00"),
        ("5th of April at noon", "2026-04-05 12:00:00"),
        ("January 1st, 2027 at 9:00 a.m.", "2027-01-01 09:00:00"),
        ("feb 29", "2028-02-29 09:00:00"),
        ("2026-03-05", "2026-03-05 09:00:00"),
        ("2026-03-05 14:00", "2026-03-05 14:00:00"),
        ("25/12", "2026-12-25 09:00:00"),
        ("05/05/2026", "2026-05-05 09:00:00"),
        ("next week", "2026-03-09 09:00:00"),
        ("domani", "2026-03-03 09:00:00"),
        ("domani alle 9", "2026-03-03 09:00:00"),
        ("dopodomani", "2026-03-04 09:00:00"),
        ("fra due giorni", "2026-03-04 17:45:00"),
        ("fra mezz'ora", "2026-03-02 18:15:00"),
        ("giovedì alle 9.30", "2026-03-05 09:30:00"),
        ("5 marzo 2027", "2027-03-05 09:00:00"),
        ("stasera", "2026-03-02 20:00:00"),
        ("morgen um 9 Uhr", "2026-03-03 09:00:00"),
        ("übermorgen", "2026-03-04 09:00:00"),
        ("in einer halben Stunde", "2026-03-02 18:15:00"),
        ("in 1,5 Stunden", "2026-03-02 19:15:00"),
        ("am 5. März um 9 Uhr", "2026-03-05 09:00:00"),
        ("5.3.2027", "2027-03-05 09:00:00"),
        ("heute Abend", "2026-03-02 20:00:00"),
        ("morgen früh", "2026-03-03 09:00:00"),
        ("demain à 9h", "2026-03-03 09:00:00"),
        ("dans une demi-heure", "2026-03-02 18:15:00"),
        ("le 5 mars à 15h30", "2026-03-05 15:30:00"),
        ("la semaine prochaine", "2026-03-09 09:00:00"),
        ("ce soir à 21h", "2026-03-02 21:00:00"),
        ("mañana a las nueve", "2026-03-03 09:00:00"),
        ("mañana por la mañana", "2026-03-03 09:00:00"),
        ("en 2 horas", "2026-03-02 19:45:00"),
        ("pasado mañana", "2026-03-04 09:00:00"),
    ],
)
def test_what_people_say_is_the_moment_they_mean(words: float | str, at: str) -> None:
    assert told(words) == at


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("next friday", "can mean two days"),
        ("venerdì prossimo", "can mean two days"),
        ("03/04", "can mean two days"),
        ("01/02/2027", "can mean two days"),
        ("today", "at what time"),
        ("2026-03-05T14:00", "RFC 3339"),
        ("2026-02-30T14:00:00Z", "RFC 3339"),
        ("sometime", "names no time"),
        ("", "names no time"),
        ("in 10", "names no time"),
        ("-5", "names no time"),
        ("at 9 at 10", "names no time"),
        ("tomorrow tomorrow", "names no time"),
        ("31 february", "names no time"),
        ("25:00", "names no time"),
        ("13pm", "names no time"),
        ("in 1.5 months", "names no time"),
        ("half past 9", "names no time"),
        ("in 0 days", "no time from now"),
        ("x" * 500, "names no time"),
        ("today at 9", "has passed"),
        ("2026-03-02T16:44:59Z", "has passed"),
        ("2026-03-01", "has passed"),
        (0.0, "more than 0"),
        (-1.0, "more than 0"),
        (1e300, "hundred years"),
        ("in 999999999 years", "hundred years"),
        ("in 200 years", "hundred years"),
        ("in 99999999999 seconds", "hundred years"),
    ],
)
def test_what_could_mean_two_things_or_nothing_is_refused_by_field(words: float | str, why: str) -> None:
    with pytest.raises(InvalidError, match=why) as caught:
        moment(words, NOW, zone=ROME, field="due")
    assert caught.value.details["field"] == "due"
    assert len(str(words)) < 12 or str(words) not in str(caught.value)


def test_days_go_by_the_calendar_and_hours_by_the_clock_when_summer_begins() -> None:
    eve = datetime(2026, 3, 28, 11, 0, tzinfo=UTC)  # noon in Rome; clocks go forward at night
    assert moment("in 1 day", eve, zone=ROME) - eve == timedelta(hours=23)
    assert moment("in 24 hours", eve, zone=ROME) - eve == timedelta(hours=24)
    assert told("tomorrow at 9", eve) == "2026-03-29 09:00:00"


def test_hours_are_right_in_the_hour_that_comes_twice() -> None:
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 02:30 in Rome, for the second time
    assert moment("in 5 minutes", second, zone=ROME) - second == timedelta(minutes=5)


def test_without_a_zone_it_is_this_machines() -> None:
    assert moment("tomorrow at 9", NOW) == datetime(2026, 3, 3, 9, tzinfo=UTC)


@given(st.text(max_size=40))
def test_any_text_is_a_moment_to_come_or_a_refusal(text: str) -> None:
    try:
        found = moment(text, NOW, zone=ROME)
    except InvalidError:
        return
    assert timedelta(0) <= found - NOW <= timedelta(seconds=MAX_SECONDS)


@given(st.lists(st.sampled_from([*sorted(PHRASES), "9", "14:30", "2", "5.3.", "at", "in", "next"]), max_size=5))
def test_any_words_of_the_grammar_are_a_moment_to_come_or_a_refusal(words: list[str]) -> None:
    try:
        found = moment(" ".join(words), NOW, zone=ROME)
    except InvalidError:
        return
    assert found > NOW
    assert found.tzinfo is UTC


def test_every_phrase_is_one_that_can_be_written() -> None:
    for phrase in PHRASES:
        assert canonical(phrase) == PHRASES[phrase], phrase
