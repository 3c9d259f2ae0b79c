// Where a command writes: what was asked for on standard output, everything else on standard error.

export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Colour and progress are for people at a terminal. */
  readonly isTerminal: boolean;
}
