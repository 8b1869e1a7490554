"""Newline-delimited messages and the process behind them."""
