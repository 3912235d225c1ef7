"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const token = new URLSearchParams(location.search).get("token") || "";
  const $ = id => document.getElementById(id);
  const html = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  /** A schedule in the address, so that a page that is loaded again is where it was. */
  const written = schedule => schedule.map(step => {
    const own = `${step.thread}.${step.edge}.${step.choice}`;
    return step.with ? `${own}.${step.with.thread}.${step.with.edge}` : own;
  }).join(",");
  const read = text => text.split(",").filter(part => part).map(part => {
    const [thread, edge, choice, other, otherEdge] = part.split(".");
    return {
      thread: Number(thread), edge: Number(edge), choice,
      with: other === undefined ? null : { thread: Number(other), edge: Number(otherEdge) },
    };
  });

  let schedule = data.start;
  if (location.hash.startsWith("#run=")) schedule = read(location.hash.slice(5));
  /** Steps that were taken back; the next one to take again is the last. */
  let undone = [];
  let now = null;
  let watches = [];
  let busy = false;

  const ask = async (path, body) => {
    const answer = await fetch(`/api/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-mover-token": token },
      body: JSON.stringify(body),
    });
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error || answer.statusText);
    return value;
  };

  const lanes = new Map();
  const lane = thread => {
    if (!lanes.has(thread)) lanes.set(thread, lanes.size);
    return `var(--t${lanes.get(thread) % 8})`;
  };

  const tables = data.files.map((file, number) => {
    const table = html("table", "source");
    table.hidden = number > 0;
    const body = html("tbody");
    for (const [at, text] of file.text.split("\n").entries()) {
      const row = html("tr");
      row.append(html("td", "n", at + 1), html("td", "c"), html("td", "", text));
      body.append(row);
    }
    table.append(body);
    $("source").append(table);
    const tab = html("button", "", file.name.split("/").pop());
    tab.type = "button";
    tab.setAttribute("role", "tab");
    tab.addEventListener("click", () => showFile(number));
    $("tabs").append(tab);
    return table;
  });
  $("tabs").hidden = data.files.length < 2;
  const showFile = number => {
    tables.forEach((table, at) => { table.hidden = at !== number; });
    [...$("tabs").children].forEach((tab, at) => tab.setAttribute("aria-selected", at === number));
  };
  const rowOf = (file, line) => {
    const number = data.files.findIndex(known => known.name === file);
    return number < 0 || !line ? null : [number, tables[number].tBodies[0].rows[line - 1]];
  };

  const place = told => {
    if (!told.line) return "";
    const file = data.files.length > 1 && told.file ? told.file.split("/").pop() + ":" : "line ";
    return file + told.line;
  };
  const changes = told => {
    const parts = told.reads.map(read => `reads ${read}`);
    for (const [name, from, to] of told.changes) {
      parts.push(from === "" ? `${name} ${to}` : `${name}: ${from} → ${to}`);
    }
    if (told.output) parts.push(`prints ${JSON.stringify(told.output)}`);
    return parts.join(", ");
  };
  const describe = (node, told) => {
    const who = told.partner ? `${told.thread} → ${told.partner}` : told.thread;
    node.style.setProperty("--lane", lane(told.thread));
    node.append(html("span", "who", who), html("span", "at", place(told)));
    node.append(html("code", "", told.text.split(/\s+/).join(" ")));
    if (told.class) {
      const short = { "non-mover": "non", "right mover": "right", "left mover": "left" }[told.class];
      node.append(" ", html("span", `mv ${short || ""}`, told.class));
    }
    node.append(html("span", "does", changes(told)));
  };

  const show = () => {
    const end = $("end");
    const words = {
      open: "", proper: "The run ends properly.",
      bound: `The run is cut off here: ${now.end.message}`,
      violated: `${now.end.property}: ${now.end.message}`,
    };
    end.hidden = now.end.kind === "open";
    end.className = `end ${now.end.kind}`;
    end.textContent = words[now.end.kind];
    $("next").replaceChildren(...now.next.map((told, number) => {
      const item = html("li");
      const button = html("button");
      button.type = "button";
      describe(button, told);
      let input = null;
      if (told.last_choice !== null) {
        input = html("input");
        input.inputMode = "numeric";
        input.value = "0";
        input.title = `0 to ${told.last_choice}`;
        input.setAttribute("aria-label", "Value of the input");
      }
      button.addEventListener("click", () => take(number, input ? input.value.trim() : "0"));
      item.append(button);
      if (input) item.append(input);
      return item;
    }));
    if (now.next.length === 0) $("next").append(html("li", "said", "No step is possible."));
    $("taken").replaceChildren(...now.steps.map((told, number) => {
      const row = html("tr", told.begins ? "begins" : "");
      const back = html("button", "", number + 1);
      back.type = "button";
      back.title = "Go back to the state after this step";
      back.addEventListener("click", () => goTo(number + 1));
      const numberCell = html("td", "no");
      numberCell.append(back);
      const cell = html("td");
      describe(cell, told);
      row.append(numberCell, cell);
      return row;
    }));
    $("run-scroll").scrollTop = $("run-scroll").scrollHeight;
    const last = now.steps[now.steps.length - 1];
    const changed = new Set(last ? last.changes.map(change => change[0]) : []);
    $("values").replaceChildren(...now.values.map(([name, value]) => {
      const row = html("tr", changed.has(name) ? "changed" : "");
      row.append(html("th", "", name), html("td", "", value));
      return row;
    }));
    for (const table of tables) {
      for (const row of table.querySelectorAll("tr.here")) {
        row.classList.remove("here");
        row.cells[1].replaceChildren();
      }
    }
    let first = null;
    for (const standing of now.threads) {
      const found = rowOf(standing.file, standing.line);
      if (!found || !found[1]) continue;
      const [file, row] = found;
      row.classList.add("here");
      const chip = html("span", "chip", standing.thread);
      chip.style.setProperty("--lane", lane(standing.thread));
      row.cells[1].append(chip);
      if (!first || (last && standing.thread === last.thread)) first = [file, row];
    }
    if (first) {
      showFile(first[0]);
      const box = $("source");
      box.scrollTop = Math.max(0, first[1].offsetTop - box.clientHeight / 2);
    }
    $("back").disabled = schedule.length === 0;
    $("restart").disabled = schedule.length === 0;
    $("again").disabled = undone.length === 0;
    $("random").disabled = now.next.length === 0;
    $("export").disabled = now.end.kind !== "violated";
    $("saved").textContent = "";
    history.replaceState(null, "", `${location.pathname}${location.search}#run=${written(schedule)}`);
    showWatches();
  };

  const showWatches = () => {
    const table = $("watched");
    table.replaceChildren();
    if (watches.length === 0) return;
    const head = html("tr");
    head.append(html("th", "", "expression"));
    for (let at = 0; at <= schedule.length; at++) head.append(html("th", "num", at));
    table.append(head);
    for (const watch of watches) {
      const row = html("tr");
      const name = html("th");
      const remove = html("button", "", "×");
      remove.type = "button";
      remove.setAttribute("aria-label", `Stop watching ${watch.text}`);
      remove.addEventListener("click", () => {
        watches = watches.filter(other => other !== watch);
        showWatches();
      });
      name.append(remove, " ", html("code", "", watch.text));
      row.append(name);
      for (const value of watch.values) row.append(html("td", "num", value));
      table.append(row);
    }
  };

  const say = (text, wrong) => {
    $("said").textContent = text;
    $("said").className = wrong ? "said wrong" : "said";
  };

  /** Does one thing at a time, and tells what goes wrong. */
  const once = async action => {
    if (busy) return;
    busy = true;
    try {
      await action();
    } catch (error) {
      say(error.message, true);
    } finally {
      busy = false;
    }
  };

  const look = async next => {
    const answer = await ask("situation", { schedule: next, watch: watches.map(watch => watch.text) });
    schedule = next;
    now = answer.situation;
    watches = watches.map((watch, at) => ({ text: watch.text, values: answer.watched[at] }));
  };

  const take = (number, choice) => once(async () => {
    const told = now.next[number];
    if (!told) return;
    if (!/^\d+$/.test(choice)) return say("An input is a whole number.", true);
    undone = [];
    say("");
    await look([...schedule, { ...told.step, choice }]);
    // The rest of the transaction, as far as it is one way.
    while ($("whole").checked) {
      const own = now.next.filter(other => other.thread === told.thread);
      if (own.length !== 1 || own[0].begins !== false || own[0].last_choice !== null) break;
      await look([...schedule, own[0].step]);
    }
    show();
  });
  const goTo = length => once(async () => {
    undone = [...undone, ...schedule.slice(length).reverse()];
    await look(schedule.slice(0, length));
    show();
  });
  const back = () => once(async () => {
    if (schedule.length === 0) return;
    undone.push(schedule[schedule.length - 1]);
    await look(schedule.slice(0, -1));
    show();
  });
  const again = () => once(async () => {
    if (undone.length === 0) return;
    const step = undone.pop();
    await look([...schedule, step]);
    show();
  });
  const random = () => {
    if (!now || now.next.length === 0) return;
    const number = Math.floor(Math.random() * now.next.length);
    const last = now.next[number].last_choice;
    const values = last === null ? 1 : Math.min(Number(last) + 1, 2 ** 32);
    take(number, String(Math.floor(Math.random() * values)));
  };

  $("back").addEventListener("click", back);
  $("again").addEventListener("click", again);
  $("random").addEventListener("click", random);
  $("restart").addEventListener("click", () => goTo(0));
  $("watch-form").addEventListener("submit", event => {
    event.preventDefault();
    once(async () => {
      const text = $("watch").value.trim();
      if (!text) return;
      const known = watches;
      watches = [...known.filter(watch => watch.text !== text), { text, values: [] }];
      try {
        await look(schedule);
        say("");
      } catch (error) {
        watches = known;
        throw error;
      }
      show();
    });
  });
  $("find").addEventListener("click", () => once(async () => {
    const condition = $("watch").value.trim();
    if (!condition) return say("Write a condition first.", true);
    say("Looking …");
    const answer = await ask("find", { schedule, condition });
    if (answer.steps) {
      undone = [];
      await look([...schedule, ...answer.steps]);
      show();
      say(`It holds after ${answer.steps.length} more steps.`);
    } else if (answer.nowhere) {
      say(`It holds in none of the ${answer.states} states that can follow.`);
    } else {
      say(`Not found among ${answer.states} states: ${answer.why}.`);
    }
  }));
  $("export").addEventListener("click", () => once(async () => {
    const trace = await ask("export", { schedule });
    const link = html("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(trace, null, 1)], { type: "application/json" }));
    link.download = "run.json";
    link.click();
    URL.revokeObjectURL(link.href);
    $("saved").textContent = "Saved. Run it with: mover replay FILE run.json (for C also with --native --yes)";
  }));
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
    if (event.key >= "1" && event.key <= "9") {
      const choice = $("next").children[Number(event.key) - 1];
      const button = choice && choice.querySelector("button");
      if (button) button.click();
    } else if (event.key === "b") back();
    else if (event.key === "a") again();
    else if (event.key === "r") random();
    else return;
    event.preventDefault();
  });

  once(async () => {
    try {
      await look(schedule);
    } catch (error) {
      await look([]);
      say(error.message, true);
    }
    show();
  });
})();
