"""Holds docs/job.schema.json against the samples in tests/data/jobs.

The code judges the same samples in job_corpus_test.cpp: what lies in valid/
must pass both, what lies in invalid/ neither. Ends with 77, which is "skipped",
where python3-jsonschema or python3-yaml is missing.

    job_schema_test.py ROOT_OF_THE_SOURCE
"""
import json
import pathlib
import re
import sys

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}; install python3-jsonschema and python3-yaml")
    sys.exit(77)


class Loader(yaml.SafeLoader):
    """YAML as our reader takes it: plain JSON numbers and true/false, no more."""


Loader.yaml_implicit_resolvers = {}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), None)
Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(~|null|Null|NULL|)$"), None)
Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?[0-9]+$"), None)
Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^-?[0-9]+\.[0-9]+$"), None)


def jobs_of(path):
    text = path.read_text(encoding="utf-8")
    documents = [json.loads(text)] if path.suffix == ".json" else yaml.load_all(text, Loader)
    for document in documents:
        if isinstance(document, dict) and list(document) == ["jobs"]:
            document = document["jobs"]
        yield from document if isinstance(document, list) else [document]


def main(root):
    schema = json.loads((root / "docs/job.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    checked = wrong = 0
    for folder, expected in (("valid", True), ("invalid", False)):
        for path in sorted((root / "tests/data/jobs" / folder).iterdir()):
            troubles = [e.message for job in jobs_of(path) for e in validator.iter_errors(job)]
            checked += 1
            if (not troubles) != expected:
                wrong += 1
                print(f"{folder}/{path.name}: the schema says {troubles or 'valid'}")
    print(f"{checked} samples, {wrong} judged wrongly")
    return 1 if wrong or not checked else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
