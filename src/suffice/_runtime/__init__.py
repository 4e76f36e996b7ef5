"""The parts that know no statistics: compiled loops, threads, progress, messages, files."""
