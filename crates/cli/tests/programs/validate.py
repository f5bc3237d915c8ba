"""Validates JSON documents: validate.py SCHEMA, the documents on standard input, one on each line."""

import json
import sys

from jsonschema import Draft202012Validator


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    documents = [json.loads(line) for line in sys.stdin]
    wrong = [error for document in documents for error in validator.iter_errors(document)]
    for error in wrong:
        print(f"{error.json_path}: {error.message[:500]}", file=sys.stderr)
    return 0 if documents and not wrong else 1


sys.exit(main())
