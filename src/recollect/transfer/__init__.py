"""Transfer of memory out of a database and into it: exports, imports, chat histories, backups."""
