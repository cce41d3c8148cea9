"""What Schemathesis cannot know, taken out of the description before it makes requests of it.

Other tests hold what is left out here. Without this most requests would be refused at the door, for two names of
one thing at once or for a tx that the store has not reached, and what lies behind would hardly be met.
"""

import json

import schemathesis

# Names of the same thing (C-6, C-50), of which a request may give one.
ALIASES = {"policy_override", "conflict_policy", "coexist", "task", "max_tokens", "query", "q", "k", "entity", "declared_captured_at"}
# Fields of a body that must agree with something that the request says elsewhere.
ELSEWHERE = {"tenant", "branch"}
# Parameters that wait for a tx, or name one that is not there.
UNREACHED = {"min_tx", "X-Abagraph-Min-Tx", "tx"}
# What is needed under one of several names.
NEEDED = {"CompactInput": "token_budget"}


@schemathesis.serializer("application/jsonl")
def lines(context, value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        return "\n".join(json.dumps(one) for one in value).encode()
    return json.dumps(value).encode()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    schemas = raw_schema["components"]["schemas"]
    for name, schema in schemas.items():
        if schema.get("additionalProperties") is False:
            for field in ALIASES | ELSEWHERE:
                schema["properties"].pop(field, None)
        if name in NEEDED:
            schema["required"].append(NEEDED[name])
    for path, item in raw_schema["paths"].items():
        for operation in item.values():
            said = body_fields(operation, schemas)
            operation["parameters"] = [p for p in operation.get("parameters", []) if not left_out(p, said)]
            for parameter in operation["parameters"]:
                if path == "/api/walk" and parameter.get("name") == "start":
                    parameter["required"] = True


def body_fields(operation, schemas):
    """What the body says must not be said by the query, too."""
    content = operation.get("requestBody", {}).get("content", {})
    ref = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    return schemas.get(ref.rsplit("/", 1)[-1], {}).get("properties", {})


def left_out(parameter, said):
    if parameter.get("in") == "path":
        return False
    name = parameter.get("name") or parameter["$ref"].rsplit("/", 1)[1]
    return name in UNREACHED or name in ALIASES or name in said
