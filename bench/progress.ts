// Says on standard error what the benchmark is doing: one line rewritten on a terminal, one line a step elsewhere.

export interface Progress {
  /** `part` changes within a step, `step` seldom; without a terminal only a new step is written. */
  show(step: string, part?: string): void;
  clear(): void;
}

export function createProgress(): Progress {
  const onTerminal = process.stderr.isTTY === true;
  let shown = "";
  return {
    show(step, part) {
      if (onTerminal) process.stderr.write(`\r\x1b[K${step}${part === undefined ? "" : `: ${part}`} ...`);
      else if (step !== shown) process.stderr.write(`${step} ...\n`);
      shown = step;
    },
    clear() {
      if (onTerminal) process.stderr.write("\r\x1b[K");
    },
  };
}
