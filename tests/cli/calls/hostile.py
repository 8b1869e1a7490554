"""A server whose every text is hostile: its argument, in JSON."""

SERVER = """
import json, sys

text = json.loads(sys.argv[1])
schema = {
    "type": "object",
    "properties": {
        text: {"type": text, "description": text, "default": text, "format": text},
        "choice": {"enum": [text], "title": text},
        "number": {"type": "integer", "description": text},
    },
    "required": ["number"],
}
info = {"name": text, "version": text, "title": text}
tool = {"name": "x", "title": text, "description": text, "inputSchema": schema, "outputSchema": {text: text}}
words = {"type": "text", "text": text}
blob = {"uri": text, "blob": "AAAA", "mimeType": text}
named = {"name": text, "title": text, "description": text, "mimeType": text}
link = {"type": "resource_link", "uri": text, "name": text}
picture = {"type": "image", "data": "AAAA", "mimeType": text}
results = {
    "tools/list": {"tools": [tool, {**tool, "name": text}]},
    "resources/list": {"resources": [{**named, "uri": text}]},
    "resources/templates/list": {"resourceTemplates": [{**named, "uriTemplate": text}]},
    "prompts/list": {"prompts": [{**named, "name": "x", "arguments": [{"name": text, "description": text}]}]},
    "prompts/get": {"description": text, "messages": [{"role": "user", "content": words}]},
    "resources/read": {"contents": [{"uri": text, "text": text}, blob]},
    "tools/call": {"content": [words, link, picture], "structuredContent": {text: text}},
    "ping": {},
}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


sys.stderr.write(text + chr(10))
print(text, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        capabilities = {"tools": {}, "prompts": {}, "resources": {}, "logging": {}, text: {}}
        result = dict(protocolVersion=version, capabilities=capabilities, serverInfo=info)
        send({"id": number, "result": result})
    elif method in results:
        if method == "tools/call":
            token = message["params"].get("_meta", {}).get("progressToken")
            progress = {"progressToken": token, "progress": 1, "message": text}
            send({"method": "notifications/progress", "params": progress})
            log = {"level": "info", "logger": text, "data": text}
            send({"method": "notifications/message", "params": log})
            asking = {"message": text, "requestedSchema": schema}
            send({"id": "ask", "method": "elicitation/create", "params": asking})
            sys.stdin.readline()
        failed = method == "tools/call" and message["params"]["arguments"].get("number") == 13
        send({"id": number, "result": {**results[method], **({"isError": True} if failed else {})}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": text}})
"""
