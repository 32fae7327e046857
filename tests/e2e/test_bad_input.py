# SPDX-License-Identifier: Apache-2.0
"""Bad input gets one line that names it, and exit status 2, and leaves nothing behind."""

import pytest

from conftest import TEST_WORKLOADS, one_line, workload

pytestmark = pytest.mark.every_case

# Arguments, and what the line must name.
NONSENSE = {
    "unknown_verb": (["explode"], "'explode'"),
    "mistyped_verb": (["rnu"], "did you mean 'run'"),
    "help_for_an_unknown_verb": (["help", "lsit"], "did you mean 'list'"),
    "option_before_the_verb": (["--json", "list"], "--json"),
    "unknown_option": (["run", "vector_add", "--explode"], "--explode"),
    "mistyped_option": (["run", "vector_add", "--csae", "small"], "did you mean --case"),
    "mistyped_setting": (["run", "vector_add", "--core", "3"], "did you mean --cores"),
    "short_option": (["run", "vector_add", "-c"], "-c"),
    "endless_option": (["run", "vector_add", "--" + "x" * 5000], "--xxx"),
    "option_without_its_value": (["run", "vector_add", "--case"], "--case"),
    "option_that_swallows_another": (["run", "vector_add", "--case", "--json"], "--case"),
    "setting_without_its_value": (["run", "vector_add", "--cores"], "--cores"),
    "flag_with_a_value": (["run", "vector_add", "--json=yes"], "--json"),
    "setting_flag_with_nonsense": (["run", "vector_add", "--deps=perhaps"], "perhaps"),
    "no_workload": (["run"], "taskglass list"),
    "two_workloads": (["run", "vector_add", "mix"], "'mix'"),
    "unknown_workload": (["run", "vector_ad"], "vector_add"),
    "empty_workload": (["run", ""], "''"),
    "missing_module": (["run", "./nowhere.so"], "./nowhere.so"),
    "directory_as_module": (["run", "./"], "not a file"),
    "text_file_as_module": (["run", __file__], __file__),
    "unknown_case": (["run", "vector_add", "--case", "tiny"], "small"),
    "unknown_parameter": (["run", "vector_add", "--set", "m=1"], "tile"),
    "parameter_without_value": (["run", "vector_add", "--set", "n"], "key=value"),
    "parameter_without_key": (["run", "vector_add", "--set", "=1"], "key=value"),
    "parameter_that_is_no_number": (["run", "vector_add", "--set", "n=many"], "n=many"),
    "parameter_with_a_tail": (["run", "vector_add", "--set", "n=12x"], "n=12x"),
    "empty_parameter": (["run", "vector_add", "--set", "n="], "n="),
    "parameter_beyond_64_bits": (["run", "vector_add", "--set", "n=" + "9" * 30], "64 bits"),
    "parameter_the_workload_refuses": (["run", "vector_add", "--set", "n=-1"], "n must be"),
    "real_that_is_none": (["run", workload("slow"), "--set", "ms=soon"], "ms=soon"),
    "unknown_platform": (["run", "vector_add", "--platform", "abacus"], "a2a3sim"),
    "unknown_runtime": (["run", "vector_add", "--runtime", "magic"], "host_build_graph"),
    "ring_of_no_slots": (["run", "vector_add", "--ring-task-window", "0"], "at least 4"),
    "ring_of_three_slots": (["run", "vector_add", "--runtime", "aicpu_build_graph",
                             "--ring-task-window", "3"], "from 4"),
    "three_rings": (["run", "vector_add", "--ring-task-window", "8,8,8"], "four with commas"),
    "ring_of_words": (["run", "vector_add", "--ring-heap", "1M,lots,1M,1M"], "four with commas"),
    "heap_beyond_memory": (["run", "vector_add", "--runtime", "tensormap_and_ringbuffer",
                            "--ring-heap", "64G"], "--device-memory"),
    "negative_cores": (["run", "vector_add", "--cores", "-1"], "--cores"),
    "fractional_cores": (["run", "vector_add", "--cores", "1.5"], "--cores"),
    "more_cores_than_the_platform_has": (["run", "vector_add", "--cores", "73"], "72"),
    "more_cores_than_a5sim_has": (
        ["run", "vector_add", "--platform", "a5sim", "--cores", "109"], "108"),
    "more_schedulers_than_the_platform_has": (["run", "vector_add", "--schedulers", "5"], "4"),
    "timeout_of_nothing": (["run", "vector_add", "--timeout", "0"], "--timeout"),
    "timeout_that_is_no_number": (["run", "vector_add", "--timeout", "soon"], "--timeout"),
    "memory_of_an_unknown_unit": (["run", "vector_add", "--device-memory", "4X"],
                                  "--device-memory"),
    "case_larger_than_the_device": (["run", "vector_add", "--case", "large", "--device-memory",
                                     "1M"], "--device-memory"),
    "workload_path_that_is_not_there": (["list", "--workload-path", "./nowhere"], "./nowhere"),
    "output_that_is_a_file": (["run", "vector_add", "--output", "/dev/null"], "/dev/null"),
    "output_below_a_file": (["run", "vector_add", "--output", "/dev/null/x"], "/dev/null"),
    "output_where_nothing_can_be_made": (["run", "vector_add", "--output", "/proc/none"],
                                         "/proc/none"),
    "operand_of_list": (["list", "everything"], "'everything'"),
    "operand_of_config": (["config", "cores"], "'cores'"),
}


@pytest.mark.parametrize("args,named", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_gets_one_line_that_names_it_and_exit_2(tg, args, named):
    result = tg(*args)
    assert result.returncode == 2 and one_line(result.stderr), result
    assert named in result.stderr
    assert result.stdout == ""
    assert list(tg.directory.iterdir()) == []


@pytest.mark.parametrize("name,value", [("TASKGLASS_CORES", "many"), ("TASKGLASS_DEPS", "perhaps"),
                                        ("TASKGLASS_TIMEOUT", "-1")])
def test_nonsense_in_the_environment_is_named_by_its_variable(tg, name, value):
    result = tg("list", env={name: value})
    assert result.returncode == 2 and one_line(result.stderr), result
    assert name in result.stderr


REFUSED = ["self_edge", "bad_edge", "bad_kernel", "wrong_count", "wrong_role", "wrong_dtype",
           "wrong_scalar", "wrong_part", "no_part", "outside", "bad_view", "broadcast_out",
           "too_many", "too_many_scalars", "too_many_after", "huge_alloc", "bad_alloc", "fail"]


@pytest.mark.parametrize("case", REFUSED)
def test_a_graph_with_a_mistake_gets_one_line_with_its_source_line(tg, case):
    result = tg("run", workload("graphs"), "--case", case)
    assert result.returncode == 2 and one_line(result.stderr), result
    assert "refused.c:" in result.stderr


def test_a_cyclic_graph_gets_one_line_with_the_tasks_on_the_cycle(tg):
    result = tg("run", workload("graphs"), "--case", "cycle")
    assert result.returncode == 2 and one_line(result.stderr), result
    assert "CYCLE" in result.stderr and "0 (node" in result.stderr


BROKEN = TEST_WORKLOADS / "broken"


@pytest.mark.parametrize("module,named", [
    ("other_abi", "ABI_MISMATCH"), ("too_small", "ABI_MISMATCH"), ("no_name", "name"),
    ("slash_in_name", "name"), ("no_orchestrate", "orchestrate"), ("no_prepare", "prepare"),
    ("no_golden", "golden"), ("no_case", "0 cases"), ("absurd_cases", "cases"),
    ("nameless_case", "case 1"), ("two_cases", "'first'"), ("null_kernels", "kernels"),
    ("absurd_kernels", "kernels"), ("nameless_kernel", "kernel 1"), ("two_kernels", "'copy'"),
    ("kernel_without_function", "'unused'"), ("kernel_for_no_core", "'unused'"),
    ("no_workload", "no workload")])
def test_a_broken_module_is_refused_with_the_reason(tg, module, named):
    result = tg("run", BROKEN / f"{module}.so")
    assert result.returncode == 2 and one_line(result.stderr), result
    assert module in result.stderr and named in result.stderr
    assert list(tg.directory.iterdir()) == []


def test_the_module_that_the_broken_ones_are_made_of_is_good(tg):
    tg.good("run", BROKEN / "sound.so")


@pytest.mark.parametrize("case,named", [
    ("unknown_parameter", "'divisor'"), ("nameless_tensor", "name"), ("two_tensors", "'x'"),
    ("bad_dtype", "99"), ("bad_role", "role"), ("nine_dimensions", "9 dimensions"),
    ("null_shape", "no shape"), ("negative", "negative"), ("overflow", "'z'"),
    ("huge", "--device-memory"), ("too_many_tensors", "16"), ("too_many_scalars", "16"),
    ("two_scalars", "'a'"), ("nibble_scalar", "'a'"), ("gives_up", "gives up on purpose"),
    ("expects_early", "'y'")])
def test_a_mistake_in_prepare_is_named_before_anything_exists(tg, case, named):
    result = tg("run", BROKEN / "careless.so", "--case", case)
    assert result.returncode == 2 and one_line(result.stderr), result
    assert named in result.stderr and f"'{case}'" in result.stderr
    assert list(tg.directory.iterdir()) == []


@pytest.mark.parametrize("case,named", [
    ("declares_late", "'z'"), ("unknown_tensor", "'z'"), ("expects_of_input", "'x'"),
    ("input_of_output", "'y'"), ("expects_twice", "'y'"), ("expects_nothing", "'y'"),
    ("bad_tolerance", "'y'"), ("gives_up_late", "gives up on purpose")])
def test_a_mistake_in_golden_is_named(tg, case, named):
    result = tg("run", BROKEN / "careless.so", "--case", case)
    assert result.returncode == 2 and one_line(result.stderr), result
    assert named in result.stderr and f"'{case}'" in result.stderr
