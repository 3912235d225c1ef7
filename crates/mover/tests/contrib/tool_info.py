"""Asks the tool-info module as BenchExec would.

Arguments: the directory of the module, mover, the directory of a scratch place.
"""

import pathlib
import subprocess
import sys

folder, executable, scratch = sys.argv[1:4]
sys.path.insert(0, folder)

import mover  # noqa: E402
from benchexec.tools.template import BaseTool2  # noqa: E402
from benchexec.util import ProcessExitCode  # noqa: E402

tool = mover.Tool()
assert tool.name() == "mover"
version = tool.version(executable)
assert version and version[0].isdigit(), version

scratch = pathlib.Path(scratch)
reach = scratch / "unreach-call.prp"
reach.write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )\n")
memory = scratch / "valid-deref.prp"
memory.write_text("CHECK( init(main()), LTL(G valid-deref) )\n")
locks = scratch / "no-deadlock.prp"
locks.write_text("CHECK( init(main()), LTL(G ! deadlock) )\n")
overflow = scratch / "no-overflow.prp"
overflow.write_text("CHECK( init(main()), LTL(G ! overflow) )\n")

HEADER = "#include <assert.h>\n#include <stdlib.h>\n#include <pthread.h>\n"
LOOP = (
    "int main(void) { unsigned y = 1; for (unsigned i = 0; i < 4000000000u; i++)"
    " { y = y * (y + i) + 3; assert(y != 1000006u); } return 0; }"
)
TASKS = [
    (reach, "int x; int main(void) { x = 1; assert(x == 1); return 0; }", [], "true"),
    (reach, "int x; int main(void) { x = 1; assert(x == 2); return 0; }", [], "false(unreach-call)"),
    (memory, "int main(void) { int *p = malloc(4); free(p); return *p; }", [], "false(valid-deref)"),
    (memory, "int main(void) { int *p = malloc(4); free(p); free(p); return 0; }", [], "false(valid-free)"),
    (
        locks,
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"
        "int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        [],
        "false(no-deadlock)",
    ),
    (overflow, "int x = 2147483647; int main(void) { x = x + 1; return 0; }", [], "false(no-overflow)"),
    (reach, LOOP, ["--timeout", "1"], "unknown"),
    (reach, "int main(void) { return 0.5 + x; }", [], "ERROR"),
]

for number, (asked, text, options, expected) in enumerate(TASKS):
    program = scratch / f"task{number}.c"
    program.write_text(HEADER + text + "\n")
    task = BaseTool2.Task.with_files(
        [str(program)], property_file=str(asked), options={"data_model": "LP64", "language": "C"}
    )
    limits = BaseTool2.ResourceLimits(cputime=100)
    command = tool.cmdline(executable, options, task, limits)
    assert command[0] == executable and command[-1] == str(program), command
    assert "--64" in command and ("90" in command) == (not options), command
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    run = BaseTool2.Run(
        cmdline=command,
        exit_code=ProcessExitCode.create(value=ended.returncode),
        output=BaseTool2.RunOutput(ended.stdout.splitlines(keepends=True)),
        termination_reason=None,
    )
    found = tool.determine_result(run)
    assert found == expected, (text, found, expected, ended.stdout)


def answer(line, code, reason=None):
    run = BaseTool2.Run(
        cmdline=[],
        exit_code=ProcessExitCode.create(value=code),
        output=BaseTool2.RunOutput([line + "\n"]),
        termination_reason=reason,
    )
    return tool.determine_result(run)


assert answer("unsafe: data race on x (no-data-race)", 10) == "false(no-data-race)"
assert answer("safe up to 16 threads", 5) == "unknown"
assert answer("safe: no assertion can fail", 5) == "unknown"
assert answer("", 6) == "ERROR"
assert answer("unknown: the time limit was reached", 5, "cputime") == "TIMEOUT"

narrow = BaseTool2.Task.with_files(["a.c"], options={"data_model": "ILP32", "language": "C"})
assert "--32" in tool.cmdline(executable, [], narrow, BaseTool2.ResourceLimits())
print("accepted")
