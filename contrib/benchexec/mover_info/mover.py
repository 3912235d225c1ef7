"""mover as a tool for BenchExec.

BenchExec looks for names without a dot among its own modules. So put the directory above this
package on PYTHONPATH and name the tool with its package, `<benchmark tool="mover_info.mover">`.
The executable `mover` is looked for in `--tool-directory` and on PATH. Options of the benchmark
definition are passed on to `mover check`.
"""

import re

import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.sv_benchmarks_util import ILP32, get_data_model_from_task

LAST_LINE = re.compile(r"^(safe up to|safe|unsafe|unknown)\b:?\s*(.*)$")

FALSE = {
    "unreach-call": result.RESULT_FALSE_REACH,
    "no-data-race": result.RESULT_FALSE_DATARACE,
    "no-deadlock": result.RESULT_FALSE_DEADLOCK,
    "memory-cleanup": result.RESULT_FALSE_MEMCLEANUP,
    "no-overflow": result.RESULT_FALSE_OVERFLOW,
    "mutex-misuse": f"{result.RESULT_FALSE_PROP}(mutex-misuse)",
}


class Tool(benchexec.tools.template.BaseTool2):
    """A model checker for concurrent software."""

    def executable(self, tool_locator):
        return tool_locator.find_executable("mover")

    def name(self):
        return "mover"

    def version(self, executable):
        return self._version_from_tool(executable, arg="-V", line_prefix="mover")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", "--quiet"]
        if task.property_file:
            command += ["--property-file", task.property_file]
        data_model = get_data_model_from_task(task, {ILP32: "--32", "LP64": "--64"})
        if data_model and data_model not in options:
            command.append(data_model)
        # A little less than BenchExec's own limit, so that there is an answer.
        if rlimits.cputime and "--timeout" not in options:
            command += ["--timeout", str(max(1, rlimits.cputime * 9 // 10))]
        return [*command, *options, *task.input_files_or_identifier]

    def determine_result(self, run):
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        found = next(
            (match for line in reversed(run.output) if (match := LAST_LINE.match(line))),
            None,
        )
        if found is None or run.exit_code.value not in (0, 5, 10):
            return result.RESULT_ERROR
        verdict, message = found.groups()
        if verdict == "safe" and run.exit_code.value == 0:
            return result.RESULT_TRUE_PROP
        if verdict != "unsafe":
            return result.RESULT_UNKNOWN
        property_name = message[message.rfind("(") + 1 :].rstrip(")")
        if property_name == "memory-safety":
            frees = message.startswith(("free of", "double free"))
            return result.RESULT_FALSE_FREE if frees else result.RESULT_FALSE_DEREF
        return FALSE.get(property_name, result.RESULT_FALSE_PROP)
