// The extension: commands, problems in the editor, and the report. What a check means is in answer.js.
"use strict";

const { execFile, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");
const { functionAt, shown } = require("./answer.js");

let collection = null;
let status = null;
let folderOfReports = null;
let lastReport = null;
let explorer = null;
/** The checks that run, by file. */
const running = new Map();

function isProgram(document) {
  return document.uri.scheme === "file" && /\.(c|i|pml|promela|prom)$/.test(document.fileName);
}

function settings(document) {
  return vscode.workspace.getConfiguration("mover", document.uri);
}

function severity(name) {
  const kinds = vscode.DiagnosticSeverity;
  return { error: kinds.Error, warning: kinds.Warning, information: kinds.Information }[name];
}

function rangeOf(line) {
  // The editor cuts it at the end of the line.
  return new vscode.Range(line, 0, line, 10000);
}

/** Shows what a check found; what an earlier check of the same program showed is gone. */
function show(found) {
  collection.clear();
  const byFile = new Map();
  for (const problem of found.problems) {
    const diagnostic = new vscode.Diagnostic(rangeOf(problem.line), problem.message, severity(problem.severity));
    diagnostic.source = "mover";
    diagnostic.code = problem.code;
    diagnostic.relatedInformation = problem.flow.map(step => new vscode.DiagnosticRelatedInformation(
      new vscode.Location(vscode.Uri.file(step.file), rangeOf(step.line)), step.text));
    byFile.set(problem.file, [...(byFile.get(problem.file) || []), diagnostic]);
  }
  for (const [file, diagnostics] of byFile) collection.set(vscode.Uri.file(file), diagnostics);
  status.text = `mover: ${found.line.split("\n")[0].slice(0, 60)}`;
  status.tooltip = found.line;
  status.show();
}

/** Checks a file; resolves with what is shown. A check of the same file that still runs is ended. */
function check(document, more = []) {
  const file = document.fileName;
  const folder = path.dirname(file);
  const chosen = settings(document);
  const report = path.join(folderOfReports, `${path.basename(file)}.html`);
  const before = running.get(file);
  if (before) before.kill();
  const given = [
    "check", "--json", "--timeout", String(chosen.get("timeout")), "--report", report,
    ...chosen.get("arguments"), ...more, `./${path.basename(file)}`,
  ];
  status.text = "mover: checking …";
  status.show();
  return new Promise(resolve => {
    const options = { cwd: folder, maxBuffer: 256 << 20 };
    const child = execFile(chosen.get("path"), given, options, (error, stdout, stderr) => {
      if (running.get(file) !== child) return resolve(null);
      running.delete(file);
      if (error && error.code === "ENOENT") {
        const message = `${chosen.get("path")} was not found; set mover.path to the program mover`;
        vscode.window.showErrorMessage(message);
        status.text = "mover: not found";
        return resolve(null);
      }
      const code = error ? error.code : 0;
      const found = shown(stdout, stderr, code, folder, file);
      lastReport = fs.existsSync(report) ? report : null;
      show(found);
      return resolve(found);
    });
    running.set(file, child);
  });
}

function active() {
  const editor = vscode.window.activeTextEditor;
  if (editor && isProgram(editor.document)) return editor;
  vscode.window.showInformationMessage("mover checks C files and Promela models.");
  return null;
}

async function checkActive() {
  const editor = active();
  if (!editor) return null;
  await editor.document.save();
  return check(editor.document);
}

async function checkFunction() {
  const editor = active();
  if (!editor) return null;
  const lines = editor.document.getText().split("\n");
  const name = functionAt(lines, editor.selection.active.line);
  if (!name) {
    vscode.window.showInformationMessage("The cursor is in no function.");
    return null;
  }
  await editor.document.save();
  return check(editor.document, name === "main" ? [] : ["--entry", name]);
}

function openReport() {
  if (!lastReport) {
    vscode.window.showInformationMessage("There is no report; check a file first.");
    return null;
  }
  return vscode.env.openExternal(vscode.Uri.file(lastReport));
}

/** Starts `mover explore` and opens its page; the one before ends. */
function explore() {
  const editor = active();
  if (!editor) return null;
  if (explorer) explorer.kill();
  const file = editor.document.fileName;
  const given = ["explore", ...settings(editor.document).get("arguments"), `./${path.basename(file)}`];
  explorer = spawn(settings(editor.document).get("path"), given, { cwd: path.dirname(file) });
  let printed = "";
  let complaint = "";
  return new Promise(resolve => {
    explorer.stdout.on("data", data => {
      printed += data;
      const address = /^open (http:\/\/127\.0\.0\.1:\S+)$/m.exec(printed);
      if (!address) return;
      explorer.stdout.removeAllListeners("data");
      resolve(vscode.env.openExternal(vscode.Uri.parse(address[1], true)));
    });
    explorer.stderr.on("data", data => { complaint += data; });
    explorer.on("error", error => { complaint += error.message; });
    explorer.on("close", () => {
      if (complaint) vscode.window.showErrorMessage(`mover: ${complaint.trim().split("\n").pop()}`);
      resolve(null);
    });
  });
}

function activate(context) {
  collection = vscode.languages.createDiagnosticCollection("mover");
  status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  status.command = "mover.report";
  folderOfReports = fs.mkdtempSync(path.join(os.tmpdir(), "mover-"));
  context.subscriptions.push(
    collection,
    status,
    vscode.commands.registerCommand("mover.check", checkActive),
    vscode.commands.registerCommand("mover.checkFunction", checkFunction),
    vscode.commands.registerCommand("mover.report", openReport),
    vscode.commands.registerCommand("mover.explore", explore),
    vscode.workspace.onDidSaveTextDocument(document => {
      if (isProgram(document) && settings(document).get("checkOnSave")) check(document);
    }),
  );
}

function deactivate() {
  for (const child of running.values()) child.kill();
  if (explorer) explorer.kill();
  if (folderOfReports) fs.rmSync(folderOfReports, { recursive: true, force: true });
}

module.exports = { activate, deactivate };
