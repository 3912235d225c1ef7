"""Reads files that mover wrote with other people's readers.

Arguments: the directory of the schemas, a directory with the files, and the official
schema of SARIF 2.1.0. A file is
judged by the end of its name. Prints how many of each kind were read; the first
one that is wrong ends it with an exception.
"""

import collections
import json
import pathlib
import sys

import jsonschema
import networkx
import yaml
from sarif_pydantic import Sarif

schemas, folder = (pathlib.Path(argument) for argument in sys.argv[1:3])


def validator(name):
    schema = json.loads((schemas / name).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


trace = validator("trace.schema.json")
witness = validator("witness.schema.json")
log = validator("sarif-subset.schema.json")
answer = validator("answer.schema.json")
history = validator("history.schema.json")
official = jsonschema.Draft7Validator(json.loads(pathlib.Path(sys.argv[3]).read_text()))


def read_trace(path):
    trace.validate(json.loads(path.read_text()))


def read_answer(path):
    answer.validate(json.loads(path.read_text()))


def read_history(path):
    history.validate(json.loads(path.read_text()))


def read_yaml(path):
    entries = yaml.safe_load(path.read_text())
    witness.validate(entries)
    [entry] = entries
    is_threaded = entry["metadata"]["format_version"] == "2.2"
    if entry["entry_type"] == "violation_sequence":
        points = [
            point["waypoint"] for part in entry["content"] for point in part["segment"]
        ]
        assert [point["type"] for point in points].count("target") == 1, path
        assert points[-1]["type"] == "target", path
        assert all(("thread_id" in point) == is_threaded for point in points), path
        for point in points:
            place = point["location"]
            lines = pathlib.Path(place["file_name"]).read_text().splitlines()
            line = lines[place["line"] - 1]
            assert not line[place["column"] - 1].isspace(), (path, place)
            if point["type"] == "function_return":
                assert line[place["column"] - 1] == ")", (path, place, line)


def read_graphml(path):
    graph = networkx.read_graphml(path)
    entries = [node for node, data in graph.nodes(data=True) if data.get("entry")]
    assert len(entries) == 1, path
    if graph.graph["witness-type"] == "violation_witness":
        ends = [node for node, data in graph.nodes(data=True) if data.get("violation")]
        assert len(ends) == 1, path
        assert networkx.has_path(graph, entries[0], ends[0]), path
        created = {"0"}
        order = networkx.shortest_path(graph, entries[0], ends[0])
        for step in zip(order, order[1:]):
            data = graph.edges[step]
            assert data["threadId"] in created, (path, data)
            if "createThread" in data:
                created.add(data["createThread"])


def read_sarif(path):
    data = json.loads(path.read_text())
    log.validate(data)
    official.validate(data)
    results = data["runs"][0]["results"]
    [run] = Sarif.model_validate(data).runs
    assert len(run.results) == len(results), path
    for result in results:
        for flow in result["codeFlows"]:
            orders = [
                [place["executionOrder"] for place in thread["locations"]]
                for thread in flow["threadFlows"]
            ]
            assert all(order == sorted(order) for order in orders), path
            steps = sum(orders, [])
            assert len(steps) == len(set(steps)), path


readers = {
    ".trace.json": read_trace,
    ".answer.json": read_answer,
    ".history.json": read_history,
    ".yml": read_yaml,
    ".graphml": read_graphml,
    ".sarif": read_sarif,
}
counts = collections.Counter()
for path in sorted(folder.iterdir()):
    for end, read in readers.items():
        if path.name.endswith(end):
            read(path)
            counts[end] += 1
print(" ".join(f"{end}={counts[end]}" for end in readers))
