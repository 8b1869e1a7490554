"""What every suite is built with: requirements, scenarios, checks, traces, raw peers, the runner."""
