"""The protocol core: functions and state machines that take and return values, without I/O."""
