// An error that stops the start of the service: its message is one line for a person and says what to do.

export class StartupError extends Error {
  override name = "StartupError";
}
