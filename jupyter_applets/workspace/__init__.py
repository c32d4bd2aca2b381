"""The only code that touches user paths. What a path means is decided before any system call, and held while opening.

paths     a user's path as parts below the root, or a refusal; pure
beneath   opens those parts below a root's descriptor, and nothing else
atomic    writes a file so that a reader or a crash sees the old bytes or the new ones
files     the verbs: read, open, write, list, version
reading   one open file, in pieces
text      content as JSON carries it
backups   the versions before
audit     who did what
failures  what the system refuses, as sentences
looking   what stands at paths just now
watch     tells of changes
"""
