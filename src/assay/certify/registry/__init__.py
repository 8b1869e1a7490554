"""Registry entries (`server.json`): build, check and compare."""
