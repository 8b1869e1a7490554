"""Extensions of the protocol as values. Each is a module with an `EXTENSION`; `registry` finds them."""
