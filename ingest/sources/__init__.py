"""Where issues come from. Sources know GitHub or a file format, never the database."""
