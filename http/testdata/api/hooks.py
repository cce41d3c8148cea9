"""What Schemathesis cannot know, taken out of the description before it makes requests of it.

Other tests hold what is left out here. Without this most requests would be refused at the door, for two names of
one thing at once or for a tx that the store has not reached, and what lies behind would hardly be met.
"""

import schemathesis

# Names of the same thing (C-6, C-50), of which a request may give one.
ALIASES = {
    "policy_override", "conflict_policy", "coexist", "task", "max_tokens", "query", "q", "k", "entity", "declared_captured_at",
}
# Fields of a body that must agree with something that the request says elsewhere.
ELSEWHERE = {"tenant", "branch"}
# Parameters that wait for a tx, or name one that is not there.
UNREACHED = {"min_tx", "X-Abagraph-Min-Tx", "tx"}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    components = raw_schema["components"]
    for schema in components["schemas"].values():
        if schema.get("additionalProperties") is False:
            for name in ALIASES | ELSEWHERE:
                schema["properties"].pop(name, None)
    for item in raw_schema["paths"].values():
        for operation in item.values():
            operation["parameters"] = [p for p in operation.get("parameters", []) if not left_out(p)]


def left_out(parameter):
    name = parameter.get("name") or parameter["$ref"].rsplit("/", 1)[1]
    return name in UNREACHED or name in ALIASES
