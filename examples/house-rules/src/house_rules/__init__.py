"""What our organisation demands of every server."""

ABOUT = "the rules of our house, for any server"
