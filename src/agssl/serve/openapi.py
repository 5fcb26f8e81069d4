"""The interface of a service: as OpenAPI for programs, and as a page for people that takes nothing from elsewhere."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

from agssl.serve.limits import Limits


def openapi(about: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """The description of all routes.

    Args:
        about: what is served, see `Service.about`.
        limits: what is refused.
    """
    text, number, flag = {"type": "string"}, {"type": "number"}, {"type": "boolean", "default": False}
    name = {"oneOf": [text, {"type": "integer"}]}
    by_name = {"type": "object", "additionalProperties": number}
    prediction = {
        "type": "object",
        "required": ["node", "prediction", "probability"],
        "properties": {
            "node": text,
            "prediction": {"type": "string", "enum": about["classes"]},
            "probability": number,
            "probabilities": by_name,
            "weights": by_name | {"description": "how far each teacher is trusted at the node"},
            "set": {"type": "array", "items": text, "description": "holds the true class with the chance asked for"},
            "unsure": {"type": "boolean", "description": "the set has several classes"},
            "unlike": {"type": "boolean", "description": "of new nodes: the row is unlike anything seen"},
            "unlike_why": {"type": ["string", "null"]},
            "answered_by": {"type": "string", "enum": ["student", "teachers"]},
        },
    }
    features = {
        "description": "by column, or a list of all numbers",
        "oneOf": [{"type": "object"}, {"type": "array", "items": number}],
    }
    new = {"type": "object", "required": ["features"], "properties": {"id": name, "features": features}}
    request = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "nodes": {"type": "array", "items": name, "description": "nodes of the fitted graph"},
            "new": {"type": "array", "items": new, "description": "rows of new nodes"},
            "edges": {"type": "array", "items": {"type": "array"}, "description": "source, target, perhaps a weight"},
            "weights": flag,
            "proba": flag,
            "by_class": flag,
            "coverage": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        },
        "example": example(about),
    }
    answer = {
        "type": "object",
        "properties": {
            "predictions": {"type": "array", "items": {"$ref": "#/components/schemas/Prediction"}},
            "warnings": {"type": "array", "items": text},
        },
    }
    error = _content("a mistake, in words", {"type": "object", "properties": {"error": text}})
    refused = {"400": error, "408": error, "413": error, "415": error, "422": error, "429": error}
    late = {"503": error, "504": error}
    node = {"name": "node", "in": "query", "required": True, "schema": text}
    plain = {"description": "figures", "content": {"text/plain": {"schema": text}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"agssl: {about['model']}",
            "version": about["version"],
            "description": f"Classes of nodes. At most {limits.nodes} nodes and {limits.body} bytes a request, "
            f"{limits.seconds:g} s, {limits.rate:g} requests a second (0: any number).",
        },
        "paths": {
            "/predict": {
                "post": {
                    "summary": "Predict known nodes by id, and new ones by their rows and edges",
                    "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
                    "responses": {"200": _content("predictions, in the order of the request", answer)} | refused | late,
                }
            },
            "/explain": {
                "get": {
                    "summary": "Why a known node has its class: teachers, their weights, neighbours",
                    "parameters": [node],
                    "responses": {"200": _content("the explanation", {"type": "object"}), "404": error} | late,
                }
            },
            "/health": {"get": {"summary": "What is served", "responses": {"200": _content("ok", {"type": "object"})}}},
            "/metrics": {"get": {"summary": "Figures for Prometheus", "responses": {"200": plain}}},
        },
        "components": {"schemas": {"Prediction": prediction}},
    }


def _content(words: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def example(about: Mapping[str, Any]) -> dict[str, Any]:
    """A request that the model would understand, in form."""
    columns = about["columns"]
    features: Any = {"0": 1.0} if columns is None else {name: None for name in columns[:8]}
    return {"nodes": [0], "new": [{"id": "n1", "features": features}], "edges": [["n1", 0]], "coverage": 0.9}


_STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;
background:#fff}code,pre{font:14px/1.5 ui-monospace,monospace;background:#f3f3f6;border-radius:4px}code{padding:0 .25em}
pre{padding:.8rem;overflow:auto}h2{margin-top:2rem}.m{font-weight:600;color:#0a5bb5}
@media(prefers-color-scheme:dark){body{background:#17171a;color:#e8e8ec}code,pre{background:#26262b}.m{color:#7ab8ff}}"""


def docs_page(described: Mapping[str, Any]) -> str:
    """The same as a page."""
    info = described["info"]
    parts = [f"<h1>{_text(info['title'])}</h1><p>{_text(info['description'])}</p>"]
    parts.append('<p>For programs: <a href="/openapi.json">openapi.json</a>.</p>')
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            parts.append(f'<h2><span class="m">{method.upper()}</span> <code>{_text(path)}</code></h2>')
            parts.append(f"<p>{_text(one['summary'])}.</p>")
            for parameter in one.get("parameters", ()):
                parts.append(f"<p>Parameter <code>{_text(parameter['name'])}</code>.</p>")
            if "requestBody" in one:
                schema = one["requestBody"]["content"]["application/json"]["schema"]
                sample = json.dumps(schema["example"], ensure_ascii=False)
                parts.append("<p>A body:</p>" + _pre(f"curl -H 'content-type: application/json' -d '{sample}' …{path}"))
                parts.append("<p>Its schema:</p>" + _pre(json.dumps(schema["properties"], indent=1)))
            codes = ", ".join(f"<code>{code}</code> {_text(r['description'])}" for code, r in one["responses"].items())
            parts.append(f"<p>Answers: {codes}.</p>")
    parts.append("<h2>A prediction</h2>" + _pre(json.dumps(described["components"]["schemas"]["Prediction"], indent=1)))
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><style>{_STYLE}</style>"
    body = "".join(parts)
    head += f"<title>{_text(info['title'])}</title>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{body}</body></html>"


def _pre(text: str) -> str:
    return f"<pre>{_text(text)}</pre>"


def _text(value: Any) -> str:
    return html.escape(str(value))
