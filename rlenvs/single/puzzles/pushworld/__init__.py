"""PushWorld: files, rules, generated sets, solver."""
