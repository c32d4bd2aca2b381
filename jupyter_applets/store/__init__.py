"""What is kept on disk besides a user's own files: saved applets, what people decided about them, and sessions.

slugs      the names of saved applets
documents  meta.json, app.json and state.json: strict to read, the same bytes each time they are written
folder     one applet's folder: what is in it, and a change of several files that happens whole or not at all
saving     what a save makes of a folder's files; pure
shelf      all applets of a folder, listed from memory as long as the disk has not changed
applets    the store: save, load, list, delete
trash      deleted applets, for a while
decisions  the permissions that people gave or refused

sessions         the store of sessions: what was said in them, and which there are
session_folders  a folder each; session_names: an id as the name of one
journal          events.jsonl: lines that are appended, and read back as messages
outputs          what agents displayed
private          files that nobody but us writes
"""
