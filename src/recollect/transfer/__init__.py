"""Copy memory out of a database and back in: exports, imports, chat histories and backups."""
