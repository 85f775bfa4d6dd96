"""The commands, one function each; `app` gives them their names."""
