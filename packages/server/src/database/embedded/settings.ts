// The settings a new database starts with, and those that every start passes on the command line.

/** Written once into postgresql.conf, where an operator may change them. What keeps data safe stays at its default: on. */
export const INITIAL_SETTINGS = `
# Coinslot's defaults for a small machine.
max_connections = 100
shared_buffers = 128MB
max_wal_size = 1GB
jit = off
timezone = 'UTC'

# The log holds no statements and no values, since those are players' and sellers' data.
log_timezone = 'UTC'
log_line_prefix = '%m [%p] '
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
`;

/**
 * Loopback only, and no Unix socket: a socket's path may be no longer than 107 bytes, a data folder's may. Whoever
 * connects and does not log in keeps a place for 5 seconds, not for PostgreSQL's 60.
 */
export function commandLineSettings(port: number): string {
  return `-c port=${port} -c listen_addresses=127.0.0.1 -c authentication_timeout=5s -c unix_socket_directories=`;
}
