"""Conditions on what is inside values, for the search bloompages.py: arrays, jsonb, tsvector, and
the n-grams of text.

The needles are taken from values of the column's pool, and changed a little, so that many
conditions are true for a few rows. search/ngrams.py has more texts and patterns.
"""

import json

from values import literal

# What the rows of a column may have, made from a number i, by the column's type.
POOLS = {
    "text": ["format('Request %s of user%s took %s ms', md5(i::text), i % 50, i % 7)",
             "format('%s_%s%% \\ %s', i % 90, md5((i % 300)::text), chr(1040 + i % 60))"],
    "text[]": ["ARRAY['t' || i, 'u' || i % 9, NULLIF('v' || i % 4, 'v2')]",
               "CASE i % 5 WHEN 0 THEN '{}' WHEN 1 THEN '{NULL}'"
               " ELSE string_to_array(i::text, NULL) END"],
    "integer[]": ["ARRAY[i, i % 9]", "ARRAY[[i, NULL], [i % 40, i % 3]]"],
    "jsonb": ["jsonb_build_object('id', i, 'tags', jsonb_build_array('t' || i % 99, i % 5, NULL),"
              " 'in', jsonb_build_object('k' || i % 40, i % 3, 'e', '{}'::jsonb))",
              "CASE i % 3 WHEN 0 THEN to_jsonb(i % 60) WHEN 1 THEN jsonb_build_array(i % 60,"
              " '[]'::jsonb) ELSE jsonb_build_object('a', i / 10.0, '', 'x') END"],
    "tsvector": ["setweight(to_tsvector('simple', format('w%s and v%s of x%s', i, i % 50, i % 7)),"
                 " (ARRAY['A', 'B', 'D']::\"char\"[])[1 + i % 3])",
                 "array_to_tsvector(ARRAY['w' || i % 90, 'it''s ' || i % 9, 'ä'])"],
}

# Expressions that an index can have, by the type of the column, and the type of each.
EXPRESSIONS = {
    "text": [("lower({})", "text"), ("to_tsvector('simple'::regconfig, {})", "tsvector"),
             ("string_to_array({}, ' '::text)", "text[]")],
    "text[]": [("array_replace({}, 't1'::text, 't2'::text)", "text[]"), ("({} || {})", "text[]")],
    "integer[]": [("({} || {})", "integer[]")],
    "jsonb": [("({} -> 'tags'::text)", "jsonb"), ("({} ->> 'id'::text)", "text"),
              ("(({} -> 'in'::text) || '{{}}'::jsonb)", "jsonb")],
    "tsvector": [("setweight({}, 'C'::\"char\")", "tsvector"), ("tsvector_to_array({})", "text[]")],
}
CLASSES = {"text": ["", "text_ngram_ops", "text_ngram_ops"], "jsonb": ["", "jsonb_key_ops"]}


def entry(kind, name, r):
    """A column of an index: a column of a table, or an expression of it, with an operator class."""
    if kind not in POOLS:
        return name
    expression, result = name, kind
    if r.random() < 0.4:
        form, result = r.choice(EXPRESSIONS[kind])
        expression = f"({form.format(*[name] * 2)})"
    return f"{expression} {r.choice(CLASSES.get(result, ['']))}".strip()


def condition(kind, name, indexes, r, ask):
    """A condition on a column or on an expression of it, often one that is in the definitions of
    the indexes. `ask(expression)` returns the text of an expression for a value `v` of the column's
    pool, or None."""
    forms = [("{}", kind)] + EXPRESSIONS[kind]
    indexed = [form for form in forms if form[0].format(*[name] * 2) in indexes]
    form, result = r.choice(indexed if indexed and r.random() < 0.8 else forms)
    left = form.format(*[name] * 2)
    value = form.format(*["v"] * 2)
    return MAKERS[result](left, value, r, ask)


def of_text(left, value, r, ask):
    found = ask(value) or ""
    start = r.randint(0, max(len(found) - 3, 0))
    part = found[start:start + r.choice([1, 3, 4, 5, 8, 12, 40])]
    operator = r.choice(["LIKE", "LIKE", "ILIKE", "ILIKE", "^@", "~", "~*", "="])
    if operator == "=":
        return f"{left} = {literal(found)}"
    if operator == "^@":
        return f"{left} ^@ {literal(found[:len(part)])}"
    if operator in ("ILIKE", "~*"):
        part = r.choice([part.upper(), part.lower(), part.swapcase()])
    if operator in ("~", "~*"):
        pattern = "".join("\\" + c if not c.isalnum() and ord(c) < 128 else c for c in part)
        if r.random() < 0.5 and len(part) > 4 and part.isalnum():
            at = r.randint(1, len(part) - 1)
            pattern = part[:at] + r.choice(["?", "*", "+", ".*", ".", "|", "{1}", "[a-z]*", "(x|)",
                                            "(?:)"]) + part[at:]
        return f"{left} {operator} {literal(r.choice(['', '^', '.*']) + pattern)}"
    escaped = "".join("\\" + c if c in "\\%_" else c for c in part)
    if r.random() < 0.4 and len(part) > 3:
        at = r.randint(1, len(part) - 1)
        escaped = "".join("\\" + c if c in "\\%_" else c for c in part[:at]) \
            + r.choice(["_", "%", "%%", "_%"]) + "".join(
                "\\" + c if c in "\\%_" else c for c in part[at + r.choice([0, 1]):])
    pattern = r.choice(["%", "%", ""]) + escaped + r.choice(["%", "%", ""])
    if r.random() < 0.1:
        return f"{left} {operator} ANY (ARRAY[{literal(pattern)}, NULL, 'abcdefgh%'])"
    return f"{left} {operator} {literal(pattern)}"


def of_array(left, value, r, ask):
    elements = f"SELECT x FROM unnest({value}) x"
    some = r.choice([
        f"{value}", f"ARRAY({elements} LIMIT {r.choice([0, 1, 2])})",
        f"ARRAY({elements} ORDER BY x DESC LIMIT 1)",
        f"(SELECT array_agg(x) FROM (SELECT x FROM unnest({value} || {value}) x LIMIT 3) s)",
        f"array_append({value}, NULL)"])
    found = ask(some)
    operator = r.choice(["@>", "@>", "&&", "<@", "="])
    if operator == "&&" and r.random() < 0.4 and found:
        other = ask(value)
        if other:
            return f"({left} && {literal(found)} OR {left} @> {literal(other)})"
    return f"{left} {operator} {literal(found or '{}')}"


def smaller(document, r):
    """A document that the given one contains, often; its numbers may be written otherwise."""
    if isinstance(document, dict):
        return {key: smaller(value, r) for key, value in document.items() if r.random() < 0.7}
    if isinstance(document, list):
        return [smaller(value, r) for value in document if r.random() < 0.7]
    if r.random() < 0.05:
        return r.choice([None, True, "none", {}, []])
    return document


def written(document, r):
    """A document as text. The numbers have other forms than usual."""
    if isinstance(document, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{written(value, r)}"
                              for key, value in document.items()) + "}"
    if isinstance(document, list):
        return "[" + ",".join(written(value, r) for value in document) + "]"
    if isinstance(document, int) and not isinstance(document, bool):
        return r.choice(["{}", "{}.0", "{}e0", "{}.000"]).format(document)
    return json.dumps(document)


def path_to(document, r):
    """A path to a scalar in a document, and the scalar; or to a part that is not one, and None."""
    path = "$"
    while isinstance(document, (dict, list)) and document:
        if isinstance(document, dict):
            key = r.choice(list(document))
            path += r.choice([f".{json.dumps(key)}"] * 4 + [".*"])
            document = document[key]
        else:
            at = r.randrange(len(document))
            path += r.choice(["[*]", "[*]", f"[{at}]", ""])
            document = document[at]
    return path, None if isinstance(document, (dict, list)) else document


def of_jsonb(left, value, r, ask):
    found = json.loads(ask(value) or "{}", parse_float=lambda text: float(text))
    kind = r.random()
    if kind < 0.4:
        document = written(smaller(found, r), r)
        return f"{left} {r.choice(['@>', '@>', '@>', '='])} {literal(document)}"
    if kind < 0.6:
        own = list(found) if isinstance(found, dict) else []
        keys = [key for key in own + ["a", "none", "t7"] if r.random() < 0.6]
        if r.random() < 0.4 and keys:
            return f"{left} ? {literal(keys[0])}"
        texts = ", ".join([literal(key) for key in keys] + ["NULL"] * (r.random() < 0.2))
        return f"{left} {r.choice(['?|', '?&'])} ARRAY[{texts}]::text[]"
    path, scalar = path_to(found, r)
    mode = r.choice(["", "", "strict "])
    test = f"== {written(scalar, r)}"
    if isinstance(scalar, str) and r.random() < 0.3:
        test = f"starts with {json.dumps(scalar[:2])}"
    elif isinstance(scalar, int) and r.random() < 0.2:
        test = r.choice(["> ", "!= ", "<= "]) + str(scalar)
    other, wanted = path_to(json.loads(ask(value) or "{}"), r)
    if r.random() < 0.5:
        whole = f"{path} ? (@ {test})" if r.random() < 0.8 else path
        if r.random() < 0.2:
            whole = f"$ ? (@{path[1:]} {test} {r.choice(['&&', '||'])} exists (@{other[1:]}))"
        return f"{left} @? {literal(mode + whole)}"
    whole = r.choice([f"{path} {test}", f"!({path} {test})", f"exists({path})",
                      f"{path} {test} {r.choice(['&&', '||'])} {other} == {written(wanted, r)}"])
    return f"{left} @@ {literal(mode + whole)}"


def of_tsvector(left, value, r, ask):
    def word():
        found = ask(f"(SELECT x FROM unnest(tsvector_to_array({value})) x"
                    f" OFFSET {r.choice([0, 0, 1, 2])} LIMIT 1)") or "none"
        if r.random() < 0.15:
            found = found[:2]
        found = found.replace("\\", "\\\\").replace("'", "''")
        return f"'{found}'" + r.choice([""] * 6 + [":*", ":A", ":AB", ":*B"])

    def query(depth):
        if depth == 0 or r.random() < 0.3:
            return r.choice(["", "", "", "!"]) + word()
        return f"({query(depth - 1)} {r.choice('&&|')} {query(depth - 1)})" if r.random() < 0.8 \
            else f"({word()} {r.choice(['<->', '<2>'])} {r.choice(['', '!'])}{word()})"
    return f"{left} @@ {literal(query(r.choice([0, 1, 2, 2])))}"


MAKERS = {"text": of_text, "text[]": of_array, "integer[]": of_array, "jsonb": of_jsonb,
          "tsvector": of_tsvector}
