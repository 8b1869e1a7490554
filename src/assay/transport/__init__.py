"""What carries messages: one module or package per transport, all driving the same endpoint."""
