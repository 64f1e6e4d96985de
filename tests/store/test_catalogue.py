"""Rows F, J, I, T and C of the catalogue of bad inputs: which test holds each one."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS: dict[str, str] = {
    "F1": "store/test_recovery.py::test_a_damaged_file_is_kept_and_its_previous_version_goes_on",
    "F2": "store/test_recovery.py::test_a_file_cut_at_any_byte_is_never_taken_for_another",
    "F3": "store/test_recovery.py::test_a_damaged_file_is_kept_and_its_previous_version_goes_on",
    "F4": "store/test_recovery.py::test_a_damaged_file_is_kept_and_its_previous_version_goes_on",
    "F6": "store/test_recovery.py::test_a_damaged_file_is_kept_and_its_previous_version_goes_on",
    "F7": "store/test_lock_rules.py::test_a_store_path_that_is_no_file_is_refused_and_untouched",
    "F8": "store/test_lock_rules.py::test_a_store_path_that_is_no_file_is_refused_and_untouched",
    "F9": "store/test_lock_rules.py::test_a_directory_that_is_a_link_is_refused",
    "F11": "store/test_lock_rules.py::test_a_temporary_name_that_is_taken_is_not_used_and_what_it_names_is_untouched",
    "F12": "store/test_lock_rules.py::test_a_lock_path_that_is_no_lock_file_is_refused",
    "F12 original": "store/test_log_errors.py::"
    "test_the_originals_lock_that_cannot_be_looked_at_is_an_error_of_ours_and_loses_nothing",
    "F13": "store/test_lock_rules.py::test_a_lock_file_replaced_while_held_stops_the_change",
    "F14": "store/test_lock_rules.py::test_a_file_of_another_account_is_refused",
    "F14 modes": "store/test_doctor.py::test_open_modes_and_names_that_are_no_text_are_found",
    "F16": "store/test_disks.py::test_a_disk_refuses_and_loses_nothing",
    "F17": "store/test_disks.py::test_a_disk_refuses_and_loses_nothing",
    "F18": "store/test_disks.py::test_a_limit_refuses_and_loses_nothing",
    "F19": "store/test_engine_stage.py::test_bytes_that_are_not_confirmed_change_nothing_and_are_not_confirmed_twice",
    "F19 logs": "store/test_log_errors.py::test_a_log_that_is_refused_something_says_so_and_loses_nothing",
    "F21": "store/test_disks.py::test_a_limit_refuses_and_loses_nothing",
    "F22": "store/test_disks.py::test_a_disk_refuses_and_loses_nothing",
    "F23": "store/test_recovery.py::test_a_file_older_than_its_own_previous_version_is_not_written_over",
    "F23 both": "store/test_recovery.py::test_two_damaged_versions_are_refused_until_a_person_decides",
    "F24": "store/test_recovery.py::test_a_thousand_leftovers_go_and_other_files_stay",
    "F26": "store/test_documents.py::test_an_edit_in_place_of_the_same_size_is_noticed",
    "F27": "store/test_documents.py::test_file_times_mean_nothing",
    "F28": "store/test_doctor.py::test_open_modes_and_names_that_are_no_text_are_found",
    "F29": "store/test_original_profile.py::test_a_name_that_some_disks_take_for_another_is_refused",
    "J2": "store/test_recovery.py::test_a_damaged_file_is_kept_and_its_previous_version_goes_on",
    "J3": "store/test_fuzz.py::test_mutated_documents_are_read_or_refused_and_what_is_read_can_be_written",
    "J4": "store/test_recovery.py::test_a_damaged_file_is_kept_and_its_previous_version_goes_on",
    "J6": "store/test_documents.py::test_a_newer_version_is_read_only_and_untouched",
    "J7": "store/test_documents.py::test_a_changed_row_keeps_the_fields_nobody_here_knows",
    "J8": "store/test_recovery.py::test_a_damaged_file_is_kept_and_its_previous_version_goes_on",
    "J9": "mind/test_facts.py::test_a_shared_id_names_nobody_until_only_one_is_left",
    "J11": "store/test_recovery.py::test_names_of_prototypes_are_plain_data",
    "J12": "mind/test_catalogue_it.py::test_j12_a_control_character_is_refused_but_for_breaks_and_tabs",
    "J13": "mind/test_catalogue_it.py::test_j13_tags_are_few_and_texts",
    "I2": "mind/test_scope.py::test_a_persona_has_one_file_name",
    "I3": "mind/test_scope.py::test_a_persona_has_one_file_name",
    "I4": "mind/test_catalogue_it.py::test_i4_a_long_name_has_a_short_file",
    "I5": "mind/test_scope.py::test_two_names_never_share_a_file",
    "I5 capitals": "mind/test_scope.py::test_a_persona_whose_file_differs_only_in_capitals_is_refused",
    "I5 briefs": "companion/test_discovery.py::test_names_that_could_share_a_memory_are_both_refused",
    "I9": "mind/test_catalogue_it.py::test_i9_a_project_that_is_none_is_no_crash",
    "I9 renamed": "mind/test_catalogue_it.py::"
    "test_i9_a_project_that_is_renamed_meanwhile_is_another_one_and_loses_nothing",
    "I7": "mind/test_identity.py::test_nothing_else_names_a_person",
    "I9 home": "mind/test_facts.py::test_home_is_no_project",
    "I10": "mind/test_catalogue_it.py::test_i10_two_projects_of_one_name_are_two",
    "I12": "mind/test_catalogue_it.py::test_i12_ancestors_are_counted_and_never_followed",
    "T1": "store/test_documents.py::test_a_clock_that_jumps_does_not_move_the_end_of_a_wait",
    "T2": "mind/test_catalogue_it.py::test_t2_a_clock_that_goes_back_revives_nothing_and_takes_nothing_early",
    "T3": "mind/test_catalogue_it.py::test_t3_t5_only_a_moment_of_rfc_3339_is_one",
    "T5": "mind/test_catalogue_it.py::test_t3_t5_only_a_moment_of_rfc_3339_is_one",
    "T6": "mind/test_catalogue_it.py::test_t6_hours_that_are_none_are_refused_by_name",
    "T8": "mind/test_catalogue_it.py::test_t8_what_happens_in_one_millisecond_stands_in_its_order",
    "C1": "store/test_mutants.py::test_the_shipped_engine_passes",
    "C3": "store/test_documents.py::test_an_expected_fingerprint_is_that_of_the_bytes",
    "C5 promotion": "mind/test_interruption.py::"
    "test_a_promotion_that_is_killed_in_between_leaves_a_duplicate_and_no_loss",
    "C8": "store/test_lock_rules.py::test_a_child_that_ends_does_not_free_its_parents_lock",
    "C10": "store/test_lock_rules.py::test_any_other_order_raises_at_once",
    "C11": "store/test_stopped_writer.py::test_a_stopped_writer_is_named_and_finishes_when_it_goes_on",
    "C12": "store/test_lock_rules.py::test_a_note_left_on_this_machine_lets_the_next_one_in",
}
LATER = {
    "I8": "subjects come with memories about people",
    "T7": "spans of time come with memories about people",
    "J1": "importance comes with memories about people",
    "I7": "whatever else takes a person's id comes with memories about people",
    "J3": "plans and workers come with consolidation",
    "C2": "plans come with consolidation",
    "C5": "receipts come with consolidation",
    "C6": "undo comes with consolidation",
    "C7": "receipts come with consolidation",
}
"""What of the catalogue is not built yet."""
PARTLY = {"I7", "J3", "C5"}
"""Rows of which a part is built, and held."""
NUMBERS = {
    "F": "1 2 3 4 6 7 8 9 11 12 13 14 16 17 18 19 21 22 23 24 26 27 28 29",
    "J": "1 2 3 4 6 7 8 9 11 12 13",
    "I": "2 3 4 5 7 8 9 10 12",
    "T": "1 2 3 5 6 7 8",
    "C": "1 2 3 5 6 7 8 10 11 12",
}
LISTED = {f"{letter}{number}" for letter, numbers in NUMBERS.items() for number in numbers.split()}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_row_is_held_or_comes_later() -> None:
    held = {row.partition(" ")[0] for row in ROWS}
    assert held | LATER.keys() == LISTED
    assert held & LATER.keys() == PARTLY


@pytest.mark.parametrize("row", ROWS)
def test_the_test_that_holds_a_row_exists(row: str) -> None:
    file, _, name = ROWS[row].partition("::")
    assert name in names_in(file)
