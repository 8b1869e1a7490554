"""The rules of Streamable HTTP: functions from a request to a route or a refusal."""
