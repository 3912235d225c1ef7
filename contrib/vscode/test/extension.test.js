// The extension with the real mover and a stand-in for the editor. MOVER names the program.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { after, test } = require("node:test");

const MOVER = process.env.MOVER || "mover";
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mover-vscode-test-"));

/** What the extension did to the editor. */
const seen = { problems: new Map(), messages: [], opened: [], status: null, saved: null };
const commands = new Map();
const values = { path: MOVER, arguments: [], timeout: 60, checkOnSave: false };

class Range { constructor(line, from, last, to) { Object.assign(this, { line, from, last, to }); } }
const uri = file => ({ scheme: "file", fsPath: file });
const editor = {
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2 },
  StatusBarAlignment: { Left: 1 },
  Range,
  Location: class { constructor(at, range) { Object.assign(this, { uri: at, range }); } },
  Diagnostic: class { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } },
  DiagnosticRelatedInformation: class { constructor(location, message) { Object.assign(this, { location, message }); } },
  Uri: { file: uri, parse: text => ({ scheme: "http", text }) },
  env: { openExternal: at => { seen.opened.push(at.text || at.fsPath); return true; } },
  languages: {
    createDiagnosticCollection: () => ({
      clear: () => seen.problems.clear(),
      set: (at, problems) => seen.problems.set(at.fsPath, problems),
      dispose: () => {},
    }),
  },
  window: {
    activeTextEditor: null,
    createStatusBarItem: () => { seen.status = { show() {}, dispose() {} }; return seen.status; },
    showErrorMessage: text => seen.messages.push(text),
    showInformationMessage: text => seen.messages.push(text),
  },
  commands: { registerCommand: (name, action) => { commands.set(name, action); return { dispose() {} }; } },
  workspace: {
    getConfiguration: () => ({ get: name => values[name] }),
    onDidSaveTextDocument: action => { seen.saved = action; return { dispose() {} }; },
  },
};
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? editor : load(name, ...rest);
const extension = require("../extension.js");
const { functionAt } = require("../answer.js");
extension.activate({ subscriptions: [] });
after(() => {
  extension.deactivate();
  fs.rmSync(folder, { recursive: true });
});

function open(name, text, line = 0) {
  const fileName = path.join(folder, name);
  fs.writeFileSync(fileName, text);
  const document = { fileName, uri: uri(fileName), getText: () => text, save: async () => true };
  editor.window.activeTextEditor = { document, selection: { active: { line } } };
  return fileName;
}

const MODEL = `byte x, done;
active [2] proctype P() {
	byte own = x;
	x = own + 1;
	done++
}
active proctype Q() {
	done == 2;
	assert(x == 2)
}
`;

test("a violation is a problem where the run ends, with the run behind it", async () => {
  const file = open("lost.pml", MODEL);
  const found = await commands.get("mover.check")();
  assert.equal(found.verdict, "unsafe");
  const [problem] = seen.problems.get(file);
  assert.equal(problem.range.line, 8);
  assert.equal(problem.severity, editor.DiagnosticSeverity.Error);
  assert.match(problem.message, /assertion violated/);
  const lines = problem.relatedInformation.map(step => step.location.range.line);
  assert.deepEqual(lines.slice(-1), [8]);
  assert.ok(lines.filter(line => line === 3).length === 2, "both updates are steps");
  assert.match(seen.status.text, /^mover: unsafe/);

  seen.opened.length = 0;
  await commands.get("mover.report")();
  assert.equal(seen.opened.length, 1);
  assert.match(fs.readFileSync(seen.opened[0], "utf8"), /<!DOCTYPE html>/);
});

test("a mended program has no problems", async () => {
  const file = open("lost.pml", MODEL.replace("\tbyte own = x;\n\tx = own + 1", "\tx = x + 1"));
  const found = await commands.get("mover.check")();
  assert.equal(found.verdict, "safe");
  assert.equal(seen.problems.get(file), undefined);
});

test("what cannot be read is a problem at its line", async () => {
  const file = open("wrong.pml", "byte x;\nactive proctype P() { assert(y) }\n");
  await commands.get("mover.check")();
  const [problem] = seen.problems.get(file);
  assert.equal(problem.range.line, 1);
  assert.equal(problem.code, "P031");
});

test("a file is checked when it is saved, if that is wanted", async () => {
  const file = open("saved.pml", MODEL);
  const { document } = editor.window.activeTextEditor;
  seen.problems.clear();
  seen.saved(document);
  await new Promise(resolve => setTimeout(resolve, 50));
  assert.equal(seen.status.text.includes("checking"), false);
  values.checkOnSave = true;
  seen.saved(document);
  values.checkOnSave = false;
  while (!seen.problems.has(file)) await new Promise(resolve => setTimeout(resolve, 50));
  assert.equal(seen.problems.get(file)[0].range.line, 8);
});

test("a program can be walked", async () => {
  open("walk.pml", MODEL);
  seen.opened.length = 0;
  await commands.get("mover.explore")();
  assert.match(seen.opened[0], /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/);
});

test("a missing mover is told", async () => {
  open("lost.pml", MODEL);
  values.path = path.join(folder, "no-such-program");
  seen.messages.length = 0;
  await commands.get("mover.check")();
  values.path = MOVER;
  assert.match(seen.messages[0], /was not found; set mover.path/);
});

test("the function at the cursor", () => {
  const lines = [
    "static int counter;",
    "static void *worker(void *arg)",
    "{",
    "    if (counter) { counter++; }",
    "    return arg;",
    "}",
    "",
    "int main(void) {",
    "    for (;;) { }",
    "}",
  ];
  assert.equal(functionAt(lines, 0), null);
  assert.equal(functionAt(lines, 3), "worker");
  assert.equal(functionAt(lines, 5), "worker");
  assert.equal(functionAt(lines, 6), null);
  assert.equal(functionAt(lines, 8), "main");
});
