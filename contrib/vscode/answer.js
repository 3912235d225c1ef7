// From what `mover check --json` prints to what an editor shows. Nothing here knows an editor, so it is tested with
// mover alone.
"use strict";

const path = require("node:path");

/** Where a step stands, with lines from 0; nothing for steps without a line. */
function place(step, folder) {
  if (!step.file || !step.line) return null;
  return { file: path.resolve(folder, step.file), line: step.line - 1 };
}

function stepText(step, number) {
  const parts = [...(step.reads || []).map(read => `reads ${read}`)];
  for (const change of step.changes || []) {
    parts.push(change.from === "" ? `${change.name} ${change.to}` : `${change.name}: ${change.from} → ${change.to}`);
  }
  const does = parts.length > 0 ? ` (${parts.join(", ")})` : "";
  return `${number}. ${step.name}: ${step.text}${does}`;
}

/** The problem that one violated property is. It is shown where the run ends, with the run behind it. */
function problem(violated, folder) {
  const steps = violated.trace || [];
  const flow = steps
    .map((step, at) => ({ ...place(step, folder), text: stepText(step, at + 1) }))
    .filter(step => step.file !== undefined);
  if (flow.length === 0) return null;
  const last = flow[flow.length - 1];
  const story = violated.story && violated.story.sentence;
  return {
    file: last.file,
    line: last.line,
    severity: "error",
    code: violated.property,
    message: story ? `${violated.reason}\n${story}` : violated.reason,
    flow,
  };
}

/**
 * What to show of a finished check: problems by file, and one line about the verdict. `folder` is where mover ran,
 * `main` the file that was checked.
 */
function shown(stdout, stderr, code, folder, main) {
  let answer = null;
  try {
    answer = JSON.parse(stdout);
  } catch {
    const problems = diagnostics(stderr, folder);
    const last = stderr.trim().split("\n").pop() || `mover ended with code ${code}`;
    if (problems.length === 0) {
      problems.push({ file: main, line: 0, severity: "error", code: "mover", message: last, flow: [] });
    }
    return { verdict: "error", line: last, problems };
  }
  const problems = (answer.properties || [])
    .filter(property => property.status === "violated")
    .map(violated => problem(violated, folder))
    .filter(found => found !== null);
  for (const warning of diagnostics(stderr, folder)) problems.push(warning);
  if (answer.verdict === "unknown") {
    problems.push({
      file: main, line: 0, severity: "information", code: "unknown",
      message: `mover has no answer: ${answer.reason}`, flow: [],
    });
  }
  const line = answer.verdict === "unsafe" ? `unsafe: ${answer.reason}` : answer.verdict;
  return { verdict: answer.verdict, line, problems };
}

/** The messages of the front ends: `f.c:1:17: error: …` of clang, `error[P031]: …` with `┌─ f.pml:1:30` of mover. */
function diagnostics(stderr, folder) {
  const found = [];
  let open = null;
  for (const line of stderr.split("\n")) {
    const clang = /^(.+?):(\d+):(?:\d+:)? (error|warning): (.*)$/.exec(line);
    if (clang) {
      found.push({
        file: path.resolve(folder, clang[1]), line: Number(clang[2]) - 1, severity: clang[3],
        code: "clang", message: clang[4], flow: [],
      });
      continue;
    }
    const own = /^(error|warning)(?:\[(\w+)\])?: (.*)$/.exec(line);
    if (own) open = { severity: own[1], code: own[2] || "mover", message: own[3] };
    const at = /^\s*┌─ (.+?):(\d+):\d+$/.exec(line);
    if (at && open) {
      found.push({ file: path.resolve(folder, at[1]), line: Number(at[2]) - 1, flow: [], ...open });
      open = null;
    }
  }
  return found;
}

/** The name of the C function that a line is in: the last definition that begins at the margin before it. */
function functionAt(lines, line) {
  for (let at = Math.min(line, lines.length - 1); at >= 0; at--) {
    if (at < line && /^}/.test(lines[at])) return null;
    const head = /^[A-Za-z_][\w\s*]*?\b([A-Za-z_]\w*)\s*\([^;]*$/.exec(lines[at]);
    const keyword = head && ["if", "while", "for", "switch", "return", "sizeof"].includes(head[1]);
    if (head && !keyword) return head[1];
  }
  return null;
}

module.exports = { diagnostics, functionAt, shown };
